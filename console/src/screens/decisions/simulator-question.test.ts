import { describe, expect, it } from 'vitest';
import { toQuestion } from './simulator-question.ts';

const at = '2026-03-02T10:00:00.250Z';
const entry = { kind: 'access', resource: 'Article', action: 'read', allowed: false, role: 'user', at, ip: '192.0.2.1' } as const;
const request = { resource: 'Article', action: 'read', role: 'user', time: at, ip: '192.0.2.1', draft: 'none' };

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

describe('the values of the question', () => {
  const given = (more: Partial<Parameters<typeof toQuestion>[0]>) => {
    const ofRecord = more.action === 'create' ? {} : { recordId: 'a1' };
    const { fields, data, attributes, unrecorded } = toQuestion({ ...entry, ...ofRecord, ...more }) ?? {};
    return { fields, data, attributes, unrecorded };
  };
  const facts = { 'resource.department': 'politics', 'resource.status': 'draft', 'resource.version': 3, 'resource.name': 'Article' };
  const update = { action: 'update' as const, facts: { ...facts, fields: ['department', 'title'] } };

  it.each([
    { ...update, allowed: true },
    { ...update, facts: { ...update.facts, changedRecord: true } },
  ])('are those that the update would store, and name the fields without a recorded value: %j', (more) => {
    expect(given(more)).toEqual({ fields: '{"status":"draft"}', data: '{"department":"politics"}', unrecorded: 'title' });
  });

  it('are those of the stored record for an update that was denied on it', () => {
    const fields = '{"department":"politics","status":"draft","version":3}';
    expect(given(update)).toEqual({ fields, unrecorded: 'department,title' });
  });

  it('are those of request.data before those of the record', () => {
    const read = { ...update.facts, changedRecord: true, 'request.data.title': 'T', 'request.data.department': { increment: 1 } };
    const data = '{"department":{"increment":1},"title":"T"}';
    expect(given({ ...update, facts: read })).toEqual({ fields: '{"status":"draft"}', data });
  });

  it('are the values of a new record, without those that the service sets', () => {
    const data = '{"department":"politics","status":"draft","title":"T"}';
    const created = { action: 'create' as const, facts: { ...facts, 'request.data': { title: 'T' } } };
    expect(given(created)).toEqual({ data });
  });

  it('leave out values that were too long, values inside fields, and the id and role of the user', () => {
    const user = { 'user.id': 'u1', 'user.role': 'user', 'user.department': 'culture', 'user.teamId.name': 'North' };
    const long = { 'resource.body': { notKept: true }, 'resource.note': 'x'.repeat(501), 'resource.authorId.department': 'sports' };
    expect(given({ userId: 'u1', facts: { ...user, ...long } })).toEqual({ attributes: '{"department":"culture"}' });
  });
});
