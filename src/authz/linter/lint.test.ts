import { describe, expect, it } from 'vitest';
import { definitionsOf, policyOf, type SomeRule, toRole } from '../../../test/policy-fixtures.ts';
import { type Policy, TEMPLATES } from '../policies/index.ts';
import { lintAll } from './lint.fixture.ts';

describe('templates', () => {
  it.each(TEMPLATES.map((template) => [template.id, template] as const))(
    'the template %s has no findings except missing attributes',
    (_, { template }) => {
      const policy = policyOf('p', template['rules'] as unknown as readonly SomeRule[], template as unknown as Partial<Policy>);
      const found = lintAll({ definitions: definitionsOf(), policies: [policy], rolePolicies: [toRole('admin', 'p')] });
      expect(found.filter(({ code }) => code !== 'attribute-never-set')).toEqual([]);
    },
  );
});
