import { expect, it } from 'vitest';
import { toQuestion } from './simulator-question.ts';

const at = '2026-03-02T10:00:00.250Z';
const entry = { kind: 'access', resource: 'Article', action: 'read', role: 'user', at, ip: '192.0.2.1' } as const;
const request = { resource: 'Article', action: 'read', role: 'user', time: at, ip: '192.0.2.1' };

it.each([
  [
    { ...entry, recordId: 'a1', userId: 'u1' },
    { ...request, id: 'a1', user: 'u1' },
  ],
  [
    { ...entry, role: 'anon' },
    { ...request, role: 'anon' },
  ],
  [
    { ...entry, facts: { 'environment.timestamp': '2026-03-02T10:00:00.200Z', 'environment.ip': '198.51.100.7', 'user.id': 'u1' } },
    { ...request, time: '2026-03-02T10:00:00.200Z', ip: '198.51.100.7' },
  ],
  [{ ...entry, kind: 'admin' as const }, undefined],
])('the question about the entry %j is %j', (given, question) => {
  expect(toQuestion(given)).toEqual(question);
});
