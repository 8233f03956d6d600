/** A past decision is explained with the policies, assignments and values of its time. A trace that differs from the decision has a warning. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sql } from '../../src/sql.ts';
import { openDatabase } from '../../src/storage/index.ts';
import { sealAll } from '../../src/storage/policies/seal.fixture.ts';
import { type Reply, type ServiceOptions, startService } from '../harness.ts';
import { createDatabaseUrl } from '../postgres/test-database.ts';

const WITH_LEVEL = { 'Note.yaml': 'name: Note\nfields:\n  level: { type: integer }\n  at: { type: timestamp }\n  text: { type: text }\n' };
const WITHOUT = { 'Note.yaml': 'name: Note\nfields:\n  text: { type: text }\n' };
const OTHER = { 'Other.yaml': 'name: Other\nfields:\n  text: { type: text }\n' };
const NOTE = { level: 5, at: '2026-01-31T12:00:00Z', text: 'x'.repeat(9000) };

let data: string;
let database: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'bailiwick-past-'));
  database = createDatabaseUrl(data);
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

/** Starts a service on the data of the test. */
function start({ settings, ...options }: ServiceOptions) {
  return startService({ definitions: WITH_LEVEL, ...options, settings: { data, database, ...settings } });
}

/** A recorded decision, with the token to read it. */
interface Decided {
  readonly token: string;
  readonly id: string;
  readonly at: string;
}

/** Starts a service, reads a note as a user with their own policy, and closes the service. */
async function decide(conditions: readonly object[], options: ServiceOptions = {}): Promise<Decided> {
  const service = await start(options);
  const { token } = await service.admin();
  const user = await service.user();
  await service.createPolicy({ userId: user.id, rules: [{ resource: 'Note', action: 'read', conditions }] });
  const reply = await service.call('GET', `/api/Note/${await service.createRecord('Note', NOTE)}`, { token: user.token });
  const [entry] = await service.decisions('limit=1');
  await service.close();
  expect(reply.status).toBe(200);
  return { token, id: String(reply.headers['x-decision-id']), at: String(entry?.['at']) };
}

/** Starts a service and returns its explanation of the entry. */
async function explain({ token, id }: Decided, options: ServiceOptions = {}): Promise<Reply> {
  const service = await start(options);
  const reply = await service.call('GET', `/admin/api/decisions/${id}`, { token });
  await service.close();
  expect(reply.at('data')).toMatchObject({ allowed: true, reason: expect.stringContaining('allowed by rule') });
  return reply;
}

const isHigh = { field: 'resource.level', operator: 'gt', value: 3 };
const atNoon = { field: 'resource.at', operator: 'timeOfDayBetween', value: ['11:00', '13:00'] };
const saysX = { field: 'resource.text', operator: 'contains', value: 'x' };
const OTHERWISE =
  'the trace differs from the recorded decision, which is correct: definitions have changed, the time zone has changed and was not recorded, or values were too long to be stored';
const IN_KATHMANDU: ServiceOptions = { settings: { timezone: 'Asia/Kathmandu' } };
const GONE = 'resource Note has no definition any more';

/** Changes since the decision, with the expected warning. */
const CHANGES: readonly (readonly [name: string, condition: object, since: ServiceOptions, warning: string | undefined])[] = [
  ['no warning without a change', isHigh, {}, undefined],
  ['a field that was removed', isHigh, { definitions: WITHOUT }, OTHERWISE],
  ['a resource that was removed', isHigh, { definitions: OTHER }, GONE],
  ['no warning with another time zone, because the entry is explained in its own', atNoon, IN_KATHMANDU, undefined],
  ['a value too long for the entry', saysX, {}, OTHERWISE],
];

it.each(CHANGES)('describes in a warning why the trace differs from the recorded decision: %s', async (_, condition, since, warning) => {
  const past = await explain(await decide([condition]), since);
  expect(past.at('data.warnings')).toEqual(warning === undefined ? undefined : [warning]);
});

it('warns of another time zone if the audit log of an earlier version has not recorded that of the decision', async () => {
  const decided = await decide([atNoon]);
  const opened = await openDatabase({ database });
  await opened.transaction((tx) => tx.run(sql`UPDATE "_Chain" SET "timeZone" = NULL`));
  await opened.close();
  expect((await explain(decided, IN_KATHMANDU)).at('data.warnings')).toEqual([OTHERWISE]);
});

it('explains a decision with an assignment that has expired since', async () => {
  const decided = await decide([isHigh]);
  const expiresAt = new Date(Date.parse(decided.at) + 1).toISOString();
  const opened = await openDatabase({ database });
  await opened.transaction(async (tx) => {
    const kept = await tx.one<{ value: string }>(sql`SELECT "value" FROM "_PolicyHistory" WHERE "kind" = 'userPolicy'`);
    const value = JSON.stringify({ ...JSON.parse(kept?.value ?? ''), expiresAt });
    expect(await tx.run(sql`UPDATE "_PolicyHistory" SET "value" = ${value} WHERE "kind" = 'userPolicy'`)).toMatchObject({ changes: 1 });
    await sealAll(tx);
  });
  await opened.close();
  const past = await explain(decided);
  expect(past.at('data.warnings')).toBeUndefined();
  expect(past.at('data.trace')).toMatchObject([{ answer: 'true', fired: true }]);
});
