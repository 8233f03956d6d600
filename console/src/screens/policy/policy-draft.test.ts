import { describe, expect, it } from 'vitest';
import type { Policy } from '../../api/policies.ts';
import { toPastDraft, toPolicyDraft } from './policy-draft.ts';

const rule = (id: string) => ({ id, policyId: 'p', createdAt: 'then', resource: 'Tip', action: 'list' });
const policy = (parts: object) => ({ id: 'p', version: 3, createdAt: 'then', name: 'Tips', ...parts }) as unknown as Policy;

describe('toPastDraft', () => {
  it('keeps the ids of present rules only, and no members that the service sets', () => {
    const past = policy({ rules: [rule('kept'), rule('removed')] });
    expect(toPastDraft(past, policy({ rules: [rule('kept'), rule('added')] }))).toEqual({
      name: 'Tips',
      rules: [
        { id: 'kept', resource: 'Tip', action: 'list' },
        { resource: 'Tip', action: 'list' },
      ],
    });
  });
});

describe('toPolicyDraft', () => {
  it('changes the policy with the id, and removes a description that the draft does not have', () => {
    expect(toPolicyDraft({ name: 'Tips' }, 'p')).toEqual({ policies: [{ id: 'p', name: 'Tips', description: null, tags: [] }] });
    expect(toPolicyDraft({ name: 'Tips' }, undefined, { role: 'editor' }).assignments).toEqual([{ policyId: 'draft:0', role: 'editor' }]);
    expect(toPolicyDraft({ name: 'Tips', description: 'd' }, undefined).policies).toEqual([{ name: 'Tips', description: 'd', tags: [] }]);
  });
});
