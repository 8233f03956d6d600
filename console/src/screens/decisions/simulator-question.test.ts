import { expect, it } from 'vitest';
import { toQuestion } from './simulator-question.ts';

const entry = { kind: 'access', resource: 'Article', action: 'read', role: 'user' } as const;

it.each([
  [
    { ...entry, recordId: 'a1', userId: 'u1' },
    { resource: 'Article', action: 'read', id: 'a1', user: 'u1' },
  ],
  [
    { ...entry, role: 'anon' },
    { resource: 'Article', action: 'read', role: 'anon' },
  ],
  [{ ...entry, kind: 'admin' as const }, undefined],
])('the question about the entry %j is %j', (given, question) => {
  expect(toQuestion(given)).toEqual(question);
});
