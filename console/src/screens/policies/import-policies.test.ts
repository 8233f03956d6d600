import { describe, expect, it } from 'vitest';
import { toImportBody } from './import-policies.ts';

const policy = { name: 'Readers', type: 'ROLE_BASED', rules: [] };

describe('toImportBody', () => {
  it.each([
    ['the answer of an export', { success: true, data: { policies: [policy] }, count: 1 }, { policies: [policy] }],
    ['the data of an export', { policies: [policy] }, { policies: [policy] }],
    ['a list', [policy], [policy]],
    ['one policy', policy, [policy]],
  ])('reads %s', (_, file, body) => expect(JSON.parse(toImportBody(JSON.stringify(file)) ?? '')).toEqual(body));

  it('leaves a name that is given twice to the service', () => {
    const text = '{"name":"Readers","isActive":false,"isActive":true}';
    expect(toImportBody(text)).toBe(text);
  });

  it('leaves lines to the service', () => expect(toImportBody(`${JSON.stringify(policy)}\n${JSON.stringify(policy)}\n`)).toBeUndefined());
});
