/**
 * The world on which the law is tried: a database made by the service's own evolution, with a resource of every type
 * of field, rows that have broken comparisons before, and people of all kinds who ask. Beside it the same as plain data,
 * for the reference, which reads no database.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Principal, ScopeInput } from '../../src/authz/context/index.ts';
import type { PolicyLimits } from '../../src/authz/policies/index.ts';
import { type Json, type JsonObject, ownValue } from '../../src/operators/index.ts';
import type { Definitions, Resource, StoredRecord } from '../../src/resources/index.ts';
import { composeDefinitions } from '../../src/resources/system/index.ts';
import { sql } from '../../src/sql.ts';
import { type Database, insertRecord, loadRecord, migrate, openDatabase } from '../../src/storage/index.ts';
import { LIMITS } from '../policy-fixtures.ts';
import { placeFor } from '../postgres/test-database.ts';
import { writeUnchecked } from '../postgres/unchecked-writes.ts';
import type { Facts } from '../reference/reference-conditions.ts';
import { hostileRows, KINDS, THING, USER, USERS } from './data.ts';
import { EXPRESSIONS } from './expressions.ts';

/** 2026-01-31, a Saturday, a quarter to six in the evening in Kathmandu. */
export const NOW: number = Date.parse('2026-01-31T12:00:00.000Z');
export const TIME_ZONE = 'Asia/Kathmandu';
const ENVIRONMENT: JsonObject = {
  timestamp: '2026-01-31T12:00:00.000Z',
  date: '2026-01-31',
  hour: 17,
  minute: 45,
  dayOfWeek: 6,
  ip: '10.1.2.3',
};
const ORIGIN = { method: 'GET', path: '/api/Thing', ip: '10.1.2.3' };

/** Wide enough for whatever the generators say. */
export const LAW_LIMITS: PolicyLimits = { ...LIMITS, conditions: { ...LIMITS.conditions, comparisons: 1000 } };

/** What every question is asked in. */
export const AROUND: Pick<ScopeInput, 'origin' | 'now' | 'timeZone'> = { origin: ORIGIN, now: NOW, timeZone: TIME_ZONE };

/** The database, and what stands in it. */
export interface World {
  readonly database: Database;
  readonly definitions: Definitions;
  readonly thing: Resource;
  /** As storage reads them. */
  readonly records: readonly StoredRecord[];
  readonly principals: Readonly<Record<PrincipalName, Principal>>;
  /** Takes other rows in place of those there are. */
  fill(rows: readonly JsonObject[]): Promise<void>;
  /** What conditions read where someone lists and comes to a row, as plain data. */
  factsOf(principal: Principal, id: string): Facts;
  close(): Promise<void>;
}

/** A user with everything, one with nothing, one whom a trusted token alone knows, one without a token. */
export type PrincipalName = 'ann' | 'cid' | 'token' | 'anon';

/** Makes a world in a folder of its own, gone with `close`. */
export async function createWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-law-'));
  const place = placeFor(folder);
  const database = await openDatabase({ database: place });
  const definitions = lawDefinitions();
  await migrate(database, definitions);
  const thing = resourceOf(definitions, 'Thing');
  const user = resourceOf(definitions, 'User');
  await database.transaction(async (tx) => {
    for (const one of USERS.values()) await insertRecord(tx, user, { ...without(one, REFERENCES), password: 'a hash' });
  });
  await refer(place, 'User', USERS);
  const things = createThings(database, thing, place);
  await things.fill(hostileRows());
  return {
    database,
    definitions,
    thing,
    get records() {
      return things.records;
    },
    principals: principalsOf(present(await database.transaction((tx) => loadRecord(tx, user, 'u-ann')))),
    fill: things.fill,
    factsOf: things.factsOf,
    async close() {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The rows, in the database and as plain data. */
function createThings(database: Database, thing: Resource, place: string): Pick<World, 'fill' | 'records' | 'factsOf'> {
  let rows: ReadonlyMap<string, JsonObject> = new Map();
  let records: readonly StoredRecord[] = [];
  const facts = new Map<string, Facts>();
  return {
    get records() {
      return records;
    },
    factsOf: (principal, id) => remembered(facts, `${principal.id} ${id}`, () => toFacts(principal, id, rows)),
    async fill(wanted) {
      facts.clear();
      rows = new Map(wanted.map((row, index) => [idOf(row, index), { ...automatic(idOf(row, index)), ...row }]));
      await database.transaction(async (tx) => {
        await tx.run(sql`DELETE FROM "Thing"`);
        for (const row of rows.values()) await insertRecord(tx, thing, { ...without(row, REFERENCES), pin: 'a secret' });
      });
      await refer(place, 'Thing', rows);
      records = await database.transaction(async (tx) => {
        const loaded: StoredRecord[] = [];
        for (const id of rows.keys()) loaded.push(present(await loadRecord(tx, thing, id)));
        return loaded;
      });
    },
  };
}

const REFERENCES = ['ownerId', 'parentId', 'managerId'];

/** Behind the service's back, which would not let a reference lead nowhere. */
function refer(place: string, table: string, rows: ReadonlyMap<string, JsonObject>): Promise<void> {
  const statements = [...rows].flatMap(([id, row]) =>
    REFERENCES.filter((name) => row[name] !== undefined).map((name) => ({
      sql: `UPDATE "${table}" SET "${name}" = $1 WHERE "id" = $2`,
      values: [row[name], id],
    })),
  );
  return writeUnchecked(place, statements);
}

function without(row: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
}

/** The definitions of the world, with the built-in ones. */
export function lawDefinitions(): Definitions {
  const { definitions, mistakes } = composeDefinitions(
    [THING, USER].map((source) => ({ file: 'law.yaml', source, locate: () => ({ line: 1, column: 1 }) })),
  );
  if (mistakes.length > 0) throw new Error(JSON.stringify(mistakes));
  return definitions;
}

function resourceOf(definitions: Definitions, name: string): Resource {
  return present(definitions.get(name));
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('expected it to be there');
  return value;
}

function principalsOf(ann: StoredRecord): World['principals'] {
  const cid = present(USERS.get('u-cid'));
  // Not all of it is what the fields of those names hold.
  const claims: JsonObject = {
    badge: 10,
    note: null,
    level: '10',
    department: 5,
    teams: ['a', null, 5],
    fee: 12.3,
    managerId: 'u-bob',
    email: 'ext@example.org',
  };
  return {
    ann: { id: 'u-ann', role: 'user', attributes: ann },
    cid: { id: 'u-cid', role: 'editor', attributes: cid },
    token: { id: 'ext-1', role: 'user', attributes: claims },
    anon: { role: 'anon', attributes: {} },
  };
}

function remembered<Value>(known: Map<string, Value>, key: string, work: () => Value): Value {
  const value = known.get(key) ?? work();
  known.set(key, value);
  return value;
}

function toFacts(principal: Principal, id: string, rows: ReadonlyMap<string, JsonObject>): Facts {
  const user = { ...principal.attributes, ...(principal.id !== undefined && { id: principal.id }), role: principal.role };
  const row = present(rows.get(id));
  const referred = {
    'user.managerId': find(USERS, ownValue(user, 'managerId')),
    'resource.ownerId': find(USERS, ownValue(row, 'ownerId')),
    'resource.parentId': find(rows, ownValue(row, 'parentId')),
  };
  return {
    groups: { user, resource: { name: 'Thing', ...row }, environment: ENVIRONMENT, request: { ...ORIGIN, action: 'list' } },
    referred: Object.fromEntries(Object.entries(referred).filter((entry): entry is [string, JsonObject] => entry[1] !== undefined)),
    kinds: KINDS,
    expressions: EXPRESSIONS,
    now: NOW,
    timeZone: TIME_ZONE,
  };
}

function find(among: ReadonlyMap<string, JsonObject>, id: Json | undefined): JsonObject | undefined {
  return typeof id === 'string' ? among.get(id) : undefined;
}

function idOf(row: JsonObject, index: number): string {
  return String(row['id'] ?? `t-${String(index).padStart(3, '0')}`);
}

function automatic(id: string): JsonObject {
  return { id, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-31T11:00:00.000Z' };
}
