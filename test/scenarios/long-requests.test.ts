/** Changes of permissions while a long search runs: its response never rests on the state before a confirmed change. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService, type TestUser } from '../harness.ts';
import { onPostgres } from '../postgres/test-database.ts';

const DOCUMENT = `
name: Document
fields:
  text: { type: text, maxLength: 100000 }
`;
const METRICS_TOKEN = 'token-of-metrics-with-32-or-more-bytes';
/** Comparing one document with this part takes about two milliseconds. */
const PART = `${'a'.repeat(998)}b`;
const DOCUMENTS = 150;

let service: RunningService;

beforeAll(async () => {
  service = await startService({ definitions: { 'Document.yaml': DOCUMENT }, settings: { metricsToken: METRICS_TOKEN } });
  const { token } = await service.admin();
  const data = Array.from({ length: 10 }, () => ({ text: 'a'.repeat(99_000) }));
  for (let count = 0; count < DOCUMENTS; count += data.length)
    await service.call('POST', '/api/Document/import', { token, body: { data } });
});
afterAll(() => service.close());

/** A user who may list documents, and the policy. */
async function createReader(): Promise<{ readonly user: TestUser; readonly policy: string }> {
  const user = await service.user();
  const policy = await service.createPolicy({ userId: user.id, rules: [{ resource: 'Document', action: 'list' }] });
  return { user, policy };
}

const search = ({ token }: TestUser) => service.call('GET', `/api/Document?where[text][contains]=${PART}`, { token });

/** Resolves when a long search runs. On PostgreSQL, when some time has passed. */
async function untilSearching(): Promise<void> {
  if (onPostgres) return new Promise((resolve) => setTimeout(resolve, 20));
  for (;;) {
    const { status, text } = await service.call('GET', '/metrics', { token: METRICS_TOKEN });
    expect(status).toBe(200);
    if (/^bailiwick_long_requests 1$/m.test(text)) return;
  }
}

type Reader = Awaited<ReturnType<typeof createReader>>;

/** A change → the status of the search that is running when the change is confirmed. */
const CHANGES: readonly (readonly [change: string, expected: number, send: (reader: Reader) => Promise<unknown>])[] = [
  ['the policy is deleted', 403, ({ policy }) => asAdmin('DELETE', `/admin/api/policies/${policy}`)],
  ['the user is deactivated', 401, ({ user }) => asAdmin('PUT', `/api/User/${user.id}`, { isActive: false })],
  ['the user is deleted', 401, ({ user }) => asAdmin('DELETE', `/api/User/${user.id}`)],
  ['the user logs out', 401, ({ user }) => service.call('POST', '/auth/logout', { token: user.token })],
];

async function asAdmin(method: string, path: string, body?: object): Promise<void> {
  const { token } = await service.admin();
  const { status, text } = await service.call(method, path, { token, ...(body !== undefined && { body }) });
  if (status >= 300) throw new Error(text);
}

describe('a long search', () => {
  it('finds its records and has one audit entry', async () => {
    const { user } = await createReader();
    const { status, body } = await search(user);
    expect([status, body]).toMatchObject([200, { success: true, data: [], count: 0 }]);
    expect(await service.decisions(`userId=${user.id}&resource=Document`)).toMatchObject([{ action: 'list', allowed: true }]);
  });

  it.each(CHANGES)('returns no answer from before a confirmed change: %s', async (_, expected, change) => {
    const reader = await createReader();
    const searching = search(reader.user);
    await untilSearching();
    let isAnswered = false;
    void searching.then(() => {
      isAnswered = true;
    });
    await change(reader);
    // On a busy machine the search may have been answered before the change.
    const isBefore = isAnswered;
    const { status } = await searching;
    expect(status).toBe(isBefore ? 200 : expected);
  });
});
