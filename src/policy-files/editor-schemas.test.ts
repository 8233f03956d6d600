import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { policyFileSchema, policyTestSchema } from './editor-schemas.ts';
import { POLICIES } from './policy-folder.fixture.ts';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, formats: { 'date-time': true } });
const isPolicyFile = ajv.compile(policyFileSchema());
const isTestFile = ajv.compile(policyTestSchema());

const MODELS = 'examples/models';
const models = readdirSync(MODELS).map((name) => [name, `${MODELS}/${name}/policies/${name}`] as const);

describe('the schemas of policy files for editors', () => {
  it.each(models)('the schemas accept the policies and tests of the model %s', (_, path) => {
    expect(isPolicyFile(parse(readFileSync(`${path}.yaml`, 'utf8')) as object), JSON.stringify(isPolicyFile.errors)).toBe(true);
    expect(isTestFile(parse(readFileSync(`${path}.test.yaml`, 'utf8')) as object), JSON.stringify(isTestFile.errors)).toBe(true);
  });

  it('the schema accepts a list of policies', () => {
    expect(isPolicyFile(parse(POLICIES))).toBe(true);
  });

  const rule = { resource: 'Article', action: 'read' };
  const policy = { name: 'A', type: 'ROLE_BASED', rules: [rule] };
  const faults: readonly [what: string, file: object][] = [
    ['an unknown member', { ...policy, tgas: [] }],
    ['assignments to users', { ...policy, users: [] }],
    ['an unknown action', { ...policy, rules: [{ ...rule, action: 'raed' }] }],
    ['members that the service sets', { ...policy, rules: [{ ...rule, id: 'x' }] }],
    [
      'a comparison of an unknown operator',
      { ...policy, rules: [{ ...rule, conditions: [{ field: 'user.id', operator: 'eqq', value: 1 }] }] },
    ],
    ['a group in a group that is not a list', { ...policy, rules: [{ ...rule, conditions: [{ not: { allOf: {} } }] }] }],
  ];
  it.each(faults)('the schema refuses a policy file with %s', (_, file) => {
    expect(isPolicyFile(policy)).toBe(true);
    expect(isPolicyFile(file)).toBe(false);
  });

  it('the schema refuses a test file with an unknown member', () => {
    expect(isTestFile({ tests: [{ name: 'a', resource: 'A', allow: {} }] })).toBe(true);
    expect(isTestFile({ tests: [{ name: 'a', resource: 'A', alow: {} }] })).toBe(false);
  });
});
