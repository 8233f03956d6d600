import { describe, expect, it } from 'vitest';
import type { Policy } from '../../api/policies.ts';
import { fromTemplate, toPastDraft, toPolicyDraft } from './policy-draft.ts';

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

describe('fromTemplate', () => {
  it('takes over the rules and the type, and leaves the description and the tags to the author', () => {
    const template = {
      name: 'Own tips',
      description: 'Users see their tips.',
      tags: ['template'],
      type: 'CUSTOM',
      rules: [{ action: 'list' }],
    };
    expect(fromTemplate(template)).toEqual({
      ...{ name: 'Own tips', type: 'CUSTOM', isActive: true, priority: 100 },
      ...{ tags: [], rules: [{ action: 'list' }] },
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
