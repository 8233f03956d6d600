import { describe, expect, it } from 'vitest';
import { definitionsOf, LIMITS, NEWSROOM } from '../../../test/policy-fixtures.ts';
import { parsePolicy } from './parse-policy.ts';
import { TEMPLATES } from './policy-templates.ts';

describe('templates', () => {
  it('ten or more templates exist, with unique ids and names', () => {
    expect(TEMPLATES.length).toBeGreaterThanOrEqual(10);
    expect(new Set(TEMPLATES.map(({ id }) => id)).size).toBe(TEMPLATES.length);
    expect(new Set(TEMPLATES.map(({ name }) => name)).size).toBe(TEMPLATES.length);
  });

  it.each(TEMPLATES.map((template) => [template.id, template] as const))(
    'the template %s is accepted unchanged, in any project',
    (_, { template, type }) => {
      for (const definitions of [NEWSROOM, definitionsOf()]) {
        const { policy, issues } = parsePolicy(template, { definitions, limits: LIMITS });
        expect(issues).toEqual([]);
        expect(policy?.type).toBe(type);
      }
    },
  );
});
