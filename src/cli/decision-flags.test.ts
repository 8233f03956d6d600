import { expect, it } from 'vitest';
import type { EntryTail } from '../api/index.ts';
import { printEntry } from './decision-flags.ts';

const entry: EntryTail['entries'][number] = {
  kind: 'access',
  id: 'e1',
  at: '2027-01-01',
  userId: 'u1',
  role: 'user',
  resource: 'Tip',
  action: 'read',
  recordId: 't1',
  allowed: true,
  reason: 'because',
  epoch: 1,
  requestId: 'r1',
  ip: '127.0.0.1',
};

it.each([
  ['names', { caller: 'mia@example.com', record: 'Harbour' }, '2027-01-01 allow read Tip "Harbour" by user mia@example.com: because (e1)'],
  ['ids, for a caller and a record that were deleted', {}, '2027-01-01 allow read Tip/t1 by user u1: because (e1)'],
  [
    'a name of a record that is too long',
    { record: 'x'.repeat(61) },
    `2027-01-01 allow read Tip "${'x'.repeat(59)}…" by user u1: because (e1)`,
  ],
  ['a name with control characters', { record: 'a\u009b2Jb\nc' }, '2027-01-01 allow read Tip "a 2Jb\\nc" by user u1: because (e1)'],
])('prints an entry with %s', (_, labels, line) => {
  expect(printEntry(entry, labels)).toBe(line);
});

it('prints an entry in one line without effects on a terminal, although its texts are of requests', () => {
  const hostile = '\n2027-01-01 allow\u2028x\u001b[2J\u009b2J\u202e';
  const texts = { resource: hostile, action: hostile, recordId: hostile, role: hostile, reason: hostile };
  const line = printEntry({ ...entry, ...texts }, { caller: hostile });
  expect(line).toMatch(/^2027-01-01 allow {2}2027-01-01 allow x \[2J 2J {2}/);
  expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Bidi_Control}]/u);
});
