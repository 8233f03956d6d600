/** Replays decide in the time zone of the recorded decision, also in a service with another time zone. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/operators/index.ts';
import { sql } from '../../src/sql.ts';
import { openUrl } from '../../src/storage/storage.fixture.ts';
import { type RunningService, startService, type TestUser } from '../harness.ts';

const DEFINITIONS = { 'Note.yaml': 'name: Note\nfields:\n  text: { type: text }\n  day: { type: date }\n' };
/** 19 hours apart, so that hour and time of day always differ. */
const [TOKYO, HONOLULU] = ['Asia/Tokyo', 'Pacific/Honolulu'];

let tokyo: RunningService;
let honolulu: RunningService;
let user: TestUser;
let note: string;
let policyId: string;
/** The entry that Tokyo decided. */
let entry: JsonObject;

beforeAll(async () => {
  tokyo = await startService({ definitions: DEFINITIONS, settings: { timezone: TOKYO } });
  user = await tokyo.user();
  note = await tokyo.createRecord('Note', { text: 'a note', day: '2026-01-31' });
  policyId = await tokyo.createPolicy({ role: 'user', rules: [{ resource: 'Note', action: 'read' }] });
  const shared = { database: tokyo.database, data: tokyo.dataFolder };
  honolulu = await startService({ definitions: DEFINITIONS, settings: { ...shared, timezone: HONOLULU } });
  for (const service of [tokyo, honolulu]) await service.call('GET', `/api/Note/${note}`, { token: user.token });
  entry = (await tokyo.decisions('resource=Note&action=read&order=oldest&limit=1'))[0] as JsonObject;
});
afterAll(async () => {
  await honolulu?.close();
  await tokyo?.close();
});

/** Returns the hour of the entry in Tokyo. */
function hourInTokyo(): number {
  return (new Date(String(entry['at'])).getUTCHours() + 9) % 24;
}

const draftOf = (...conditions: readonly Json[]): JsonObject => ({
  policies: [{ id: policyId, rules: [{ resource: 'Note', action: 'read', conditions }] }],
});
const toTime = (hour: number): string => `${String(hour % 24).padStart(2, '0')}:00`;

/** The conditions that hold for the entry of Tokyo alone, with the path that each reads. */
const conditions: readonly (readonly [path: string, () => JsonObject])[] = [
  ['environment.hour', () => ({ field: 'environment.hour', operator: 'eq', value: hourInTokyo() })],
  [
    'environment.timestamp',
    () => ({ field: 'environment.timestamp', operator: 'timeOfDayBetween', value: [toTime(hourInTokyo()), toTime(hourInTokyo() + 1)] }),
  ],
];

async function preview(draft: JsonObject): Promise<JsonObject> {
  const { token } = await tokyo.admin();
  const body = { draft, filter: { resource: 'Note', action: 'read' } };
  const { data } = (await honolulu.call('POST', '/admin/api/policies/preview', { token, body })).body as { readonly data: JsonObject };
  return data;
}

async function replay(draft: JsonObject): Promise<JsonObject> {
  const { token } = await tokyo.admin();
  const reply = await honolulu.call('POST', `/admin/api/decisions/${String(entry['id'])}/replay`, { token, body: { draft } });
  return (reply.body as { readonly data: JsonObject }).data;
}

describe('the time zone of a recorded decision', () => {
  it.each(conditions)('decides each entry in its own time zone, if the draft reads %s', async (_, condition) => {
    expect(await preview(draftOf(condition()))).toMatchObject({ examined: 2, same: 1, allowToDeny: 1, unknown: 0 });
    expect(await replay(draftOf(condition()))).toMatchObject({ draft: { effect: 'allow' }, change: 'same' });
  });

  it('explains a past decision in its own time zone', async () => {
    const rules = [{ resource: 'Note', action: 'list', conditions: [conditions[1]?.[1]() ?? {}] }];
    const timed = await tokyo.createPolicy({ role: 'user', rules });
    const { headers } = await tokyo.call('GET', '/api/Note', { token: user.token });
    const { token } = await tokyo.admin();
    const explained = (await honolulu.call('GET', `/admin/api/decisions/${String(headers['x-decision-id'])}`, { token })).at('data');
    expect(explained).toMatchObject({ allowed: true, policyId: timed, trace: [{ fired: true }] });
    expect(explained).not.toHaveProperty('warnings');
  });
});

describe('an entry whose time zone was not recorded', () => {
  let recorded: readonly { readonly id: string; readonly timeZone: string }[];
  /** Changes the recorded time zones, as if an earlier version had begun the chains. */
  async function setTimeZones(zoneOf: (timeZone: string) => string | null): Promise<void> {
    const database = openUrl(tokyo.database);
    await database.transaction(async (tx) => {
      recorded ??= await tx.all(sql`select "id", "timeZone" from "_Chain"`);
      for (const { id, timeZone } of recorded) await tx.run(sql`update "_Chain" set "timeZone" = ${zoneOf(timeZone)} where "id" = ${id}`);
    });
    await database.close();
  }
  beforeAll(() => setTimeZones(() => null));
  afterAll(() => setTimeZones((timeZone) => timeZone));

  it.each(conditions)('the outcome is unknown and names the path, if the draft reads %s', async (path, condition) => {
    const { samples, ...counts } = await preview(draftOf(condition()));
    expect(counts).toMatchObject({ same: 0, allowToDeny: 0 });
    expect(counts['unknown']).toBe(counts['examined']);
    expect(samples).toMatchObject([{ change: 'unknown', missing: [path] }]);
    expect(await replay(draftOf(condition()))).toMatchObject({ draft: { effect: 'unknown', missing: [path] }, change: 'unknown' });
  });

  it.each<[string, JsonObject]>([
    ['of a time', { field: 'environment.timestamp', operator: 'gt', value: '2030-01-01T00:00:00Z' }],
    ['of the address', { field: 'environment.ip', operator: 'eq', value: '192.0.2.7' }],
    ['without the record', { field: 'user.role', operator: 'eq', value: 'editor' }],
  ])('a comparison %s is decided, because no time zone changes it', async (_, condition) => {
    const { examined, allowToDeny } = await preview(draftOf(condition));
    expect(allowToDeny).toBe(examined);
  });
});
