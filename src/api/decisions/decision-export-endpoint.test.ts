import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { AuditEntry } from '../../audit/index.ts';
import { codeOf, type TestUser } from '../../pipeline/pipeline.fixture.ts';
import { sql } from '../../sql.ts';
import { appendEntries, openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
  await append(Array.from({ length: 600 }, (_, index) => ({ recordId: `r${index}`, requestId: 'bulk' })));
});
afterAll(() => admin.pipeline.dispose());

/** Appends entries of updates: the tests export these alone. */
const append = (entries: readonly Partial<AuditEntry>[]): Promise<readonly string[]> =>
  appendEntries(
    admin,
    entries.map((members) => ({ action: 'update', ...members })),
  );

async function piecesOf(query: string, as: TestUser = 'ada'): Promise<AsyncIterator<string>> {
  const { pieces } = await admin.send('admin.decisions.export', { query, as });
  if (pieces === undefined) throw new Error('the response is not sent in pieces');
  return pieces[Symbol.asyncIterator]();
}

async function textOf(query: string): Promise<string> {
  const pieces = await piecesOf(query);
  let text = '';
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) text += next.value;
  return text;
}

it('reads the entries in pages of bounded size', async () => {
  const pieces = await piecesOf('requestId=bulk&format=ndjson&order=oldest');
  const counts: number[] = [];
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) counts.push(next.value.split('\n').length - 1);
  expect(counts).toEqual([0, 250, 250, 100, 0]);
});

it('fails before the next page if the session of the caller has ended', async () => {
  const pieces = await piecesOf('action=update');
  const [, first] = [await pieces.next(), await pieces.next()];
  expect(String(first.value).split('\n')).toHaveLength(251);
  await admin.deps.database.transaction((tx) => tx.run(sql`update "_Session" set "revokedAt" = ${new Date(tx.now).toISOString()}`));
  try {
    expect(await codeOf(pieces.next())).toMatch(/^IDENTITY_TOKEN/);
  } finally {
    await admin.deps.database.transaction((tx) => tx.run(sql`update "_Session" set "revokedAt" = null`));
  }
});

it('fails before the next page if the token of the caller has expired', async () => {
  const pieces = await piecesOf('action=update');
  await pieces.next();
  await pieces.next();
  vi.setSystemTime(Date.now() + 3_700_000);
  try {
    expect(await codeOf(pieces.next())).toBe('IDENTITY_TOKEN_EXPIRED');
  } finally {
    vi.useRealTimers();
  }
});

it('fails before the next page if the right of the caller has ended', async () => {
  const { data } = await admin.bodyOf<{ data: { id: string } }>('admin.policies.create', {
    body: { name: 'Exporters', type: 'CUSTOM', rules: [{ resource: '_Decision', action: 'export' }] },
  });
  await admin.send('admin.assignments.user.create', { params: { policyId: data.id, userId: 'ann' }, body: {} });
  const pieces = await piecesOf('action=update', 'ann');
  const [, first] = [await pieces.next(), await pieces.next()];
  expect(String(first.value).split('\n')).toHaveLength(251);
  await admin.send('admin.policies.delete', { params: { id: data.id } });
  expect(await codeOf(pieces.next())).toBe('ACCESS_ADMIN');
});

it('commits its entry before the first piece', async () => {
  await admin.send('admin.decisions.export', { query: 'format=csv&action=update' });
  const [, newest = ''] = (await textOf('format=csv&action=decisions.export')).split('\r\n');
  expect(newest).toContain('decisions.export');
});

it('ends at the time at which it began', async () => {
  const pieces = await piecesOf('action=update&order=oldest&format=ndjson');
  await pieces.next();
  await new Promise((done) => setTimeout(done, 5));
  await append([{ recordId: 'later' }]);
  let text = '';
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) text += next.value;
  expect(text).toContain('"r599"');
  expect(text).not.toContain('later');
});

it('writes hostile texts as one cell of one row, which no spreadsheet runs', async () => {
  const hostile = { reason: '=cmd()\r\n"injected",1', ip: "@SUM(1)\n'", userId: '+1\u2028\t,;' };
  await append([{ ...hostile, requestId: 'hostile' }]);
  const text = await textOf('format=csv&requestId=hostile');
  expect(text).toContain(`"'=cmd()\r\n""injected"",1"`);
  expect(text).toContain(`"'@SUM(1)\n'"`);
  expect(text).toContain(`"'+1\u2028\t,;"`);
  const [line, ...others] = (await textOf('format=ndjson&requestId=hostile')).split('\n');
  expect(others).toEqual(['']);
  expect(JSON.parse(line ?? '')).toMatchObject(hostile);
});
