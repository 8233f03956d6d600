/**
 * The fixture of the law tests: a migrated database with a resource that has every field type, rows that have broken
 * comparisons before, and several principals. It also has the same data as plain objects, for the reference decider,
 * which reads no database.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Principal, ScopeInput } from '../../src/authz/context/index.ts';
import type { PolicyLimits } from '../../src/authz/policies/index.ts';
import { memoize } from '../../src/memoize.ts';
import { type Json, type JsonObject, ownValue } from '../../src/operators/index.ts';
import type { Definitions, Resource, StoredRecord } from '../../src/resources/index.ts';
import { composeDefinitions } from '../../src/resources/system/index.ts';
import { sql } from '../../src/sql.ts';
import { type Database, insertRecord, loadRecord, migrate, openDatabase } from '../../src/storage/index.ts';
import { databaseFolder } from '../database-folder.ts';
import { LIMITS } from '../policy-fixtures.ts';
import { createDatabaseUrl } from '../postgres/test-database.ts';
import { writeUnchecked } from '../postgres/unchecked-writes.ts';
import type { Facts } from '../reference/reference-facts.ts';
import { AUTHORS, hostileRows, KINDS, THING, USER, USERS } from './data.ts';
import { EXPRESSIONS } from './expressions.ts';

/** Saturday 2026-01-31, 17:45 in Kathmandu. */
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

/** Limits above everything that the generators create. */
export const LAW_LIMITS: PolicyLimits = { ...LIMITS, conditions: { ...LIMITS.conditions, comparisons: 1000, relatedRecords: 25 } };

/** Origin, time and time zone of every case. */
export const REQUEST: Pick<ScopeInput, 'origin' | 'now' | 'timeZone'> = { origin: ORIGIN, now: NOW, timeZone: TIME_ZONE };

/** The database and its content. */
export interface LawFixture {
  readonly database: Database;
  readonly definitions: Definitions;
  readonly thing: Resource;
  /** The records as storage loads them. */
  readonly records: readonly StoredRecord[];
  readonly principals: Readonly<Record<PrincipalName, Principal>>;
  /** Replaces all rows. */
  fill(rows: readonly JsonObject[]): Promise<void>;
  /** Returns what conditions read when the principal lists the row, as plain data. */
  factsOf(principal: Principal, id: string): Facts;
  close(): Promise<void>;
}

/** A user with all values, a user with required values only, an identity of a trusted issuer, and an anonymous caller. */
export type PrincipalName = 'ann' | 'cid' | 'token' | 'anon';

/** Creates a fixture in a temporary folder, which `close` removes. */
export async function createLawFixture(): Promise<LawFixture> {
  const folder = mkdtempSync(join(databaseFolder, 'bailiwick-law-'));
  const url = createDatabaseUrl(folder);
  const database = await openDatabase({ database: url });
  const definitions = lawDefinitions();
  await migrate(database, definitions);
  const thing = resourceOf(definitions, 'Thing');
  const user = resourceOf(definitions, 'User');
  await database.transaction(async (tx) => {
    for (const one of USERS.values()) await insertRecord(tx, user, { ...without(one, REFERENCES), password: 'a hash' });
  });
  await setReferences(url, 'User', USERS);
  const things = createThings(database, thing, url);
  await things.fill(hostileRows());
  return {
    database,
    definitions,
    thing,
    get records() {
      return things.records;
    },
    principals: toPrincipals(present(await database.transaction((tx) => loadRecord(tx, user, 'u-ann')))),
    fill: things.fill,
    factsOf: things.factsOf,
    async close() {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Keeps the rows in the database and as plain data. */
function createThings(database: Database, thing: Resource, url: string): Pick<LawFixture, 'fill' | 'records' | 'factsOf'> {
  let rows: ReadonlyMap<string, JsonObject> = new Map();
  let records: readonly StoredRecord[] = [];
  const facts = new Map<string, Facts>();
  let related = toRelatedFacts(rows);
  return {
    get records() {
      return records;
    },
    factsOf: (principal, id) => memoize(facts, `${principal.id} ${id}`, () => toFacts(principal, { id, rows, related })),
    async fill(wanted) {
      facts.clear();
      const stored = new Map(wanted.map((row, index) => [idOf(row, index), { ...automatic(idOf(row, index)), ...row }]));
      // A soft-deleted row is no record.
      rows = new Map([...stored].filter(([, row]) => row['deletedAt'] === undefined));
      related = toRelatedFacts(rows);
      await database.transaction(async (tx) => {
        await tx.run(sql`DELETE FROM "Thing"`);
        for (const row of stored.values()) await insertRecord(tx, thing, { ...without(row, REFERENCES), pin: 'a secret' });
      });
      await setReferences(url, 'Thing', stored);
      records = await database.transaction(async (tx) => {
        const loaded: StoredRecord[] = [];
        for (const id of rows.keys()) loaded.push(present(await loadRecord(tx, thing, id)));
        return loaded;
      });
    },
  };
}

const REFERENCES = ['ownerId', 'parentId', 'managerId', 'upId'];

/** Sets references directly in the database: the service would refuse references to missing records. */
function setReferences(url: string, table: string, rows: ReadonlyMap<string, JsonObject>): Promise<void> {
  const statements = [...rows].flatMap(([id, row]) =>
    REFERENCES.filter((name) => row[name] !== undefined).map((name) => ({
      sql: `UPDATE "${table}" SET "${name}" = $1 WHERE "id" = $2`,
      values: [row[name], id],
    })),
  );
  return writeUnchecked(url, statements);
}

function without(row: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
}

/** Returns the definitions of the fixture, including the built-in ones. */
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
  if (value === undefined) throw new Error('expected a value');
  return value;
}

function toPrincipals(ann: StoredRecord): LawFixture['principals'] {
  const cid = present(USERS.get('u-cid'));
  // Some claims have another type than the fields of the same names.
  const claims: JsonObject = {
    badge: 10,
    note: null,
    level: '10',
    department: 5,
    teams: ['a', null, 5],
    fee: 12.3,
    managerId: 'u-bob',
    mentorIds: ['u-dan', null, 5, 'u-gone'],
    email: 'ext@example.org',
  };
  return {
    ann: { id: 'u-ann', role: 'user', attributes: ann },
    cid: { id: 'u-cid', role: 'editor', attributes: cid },
    token: { id: 'ext-1', role: 'user', attributes: claims },
    anon: { role: 'anon', attributes: {} },
  };
}

/** A row, and all rows. */
interface FactsOfRow {
  readonly id: string;
  readonly rows: ReadonlyMap<string, JsonObject>;
  readonly related: NonNullable<Facts['related']>;
}

function toFacts(principal: Principal, { id, rows, related }: FactsOfRow): Facts {
  const user = userOf(principal);
  const row = present(rows.get(id));
  const manager = find(USERS, ownValue(user, 'managerId'));
  const referenced = {
    'user.managerId': manager,
    'user.managerId.managerId': find(USERS, ownValue(manager, 'managerId')),
    ...Object.fromEntries(Object.entries(reachedByThing(row, rows)).map(([path, found]) => [`resource.${path}`, found])),
  };
  return {
    groups: { user, resource: resourceFacts(row), environment: ENVIRONMENT, request: { ...ORIGIN, action: 'list' } },
    referenced: presentOnly(referenced),
    related,
    kinds: KINDS,
    expressions: EXPRESSIONS,
    now: NOW,
    timeZone: TIME_ZONE,
  };
}

// The same objects for all facts, by which results are kept.
const users = new WeakMap<Principal, JsonObject>();
const resources = new WeakMap<JsonObject, JsonObject>();

function userOf(principal: Principal): JsonObject {
  const { id, role, attributes } = principal;
  return memoize(users, principal, () => ({ ...attributes, ...(id !== undefined && { id }), role }));
}

function resourceFacts(row: JsonObject): JsonObject {
  return memoize(resources, row, () => ({ name: 'Thing', ...row }));
}

/** Returns the records that the references of a thing lead to, by path after the thing. */
function reachedByThing(row: JsonObject, rows: ReadonlyMap<string, JsonObject>): Readonly<Record<string, JsonObject | undefined>> {
  const parent = find(rows, ownValue(row, 'parentId'));
  const grandparent = find(rows, ownValue(parent, 'parentId'));
  const author = find(USERS, ownValue(grandparent, 'createdBy'));
  return {
    ownerId: find(USERS, ownValue(row, 'ownerId')),
    createdBy: find(USERS, ownValue(row, 'createdBy')),
    parentId: parent,
    'parentId.parentId': grandparent,
    'parentId.ownerId': find(USERS, ownValue(parent, 'ownerId')),
    'parentId.parentId.createdBy': author,
    'parentId.parentId.createdBy.managerId': find(USERS, ownValue(author, 'managerId')),
  };
}

function reachedByUser(user: JsonObject): Readonly<Record<string, JsonObject | undefined>> {
  const manager = find(USERS, ownValue(user, 'managerId'));
  return { managerId: manager, 'managerId.managerId': find(USERS, ownValue(manager, 'managerId')) };
}

function presentOnly(found: Readonly<Record<string, JsonObject | undefined>>): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(Object.entries(found).filter((entry): entry is [string, JsonObject] => entry[1] !== undefined));
}

/** Returns all things and users as records that conditions count. The references of a record are followed once. */
function toRelatedFacts(rows: ReadonlyMap<string, JsonObject>): NonNullable<Facts['related']> {
  const reached = new Map<JsonObject, Readonly<Record<string, JsonObject>>>();
  const records = { Thing: [...rows.values()], User: [...USERS.values()] };
  return {
    limit: LAW_LIMITS.conditions.relatedRecords,
    decided: 'Thing',
    recordOf: (resource, id) => (resource === 'Thing' ? rows : USERS).get(id),
    hierarchyAt,
    targetOf: (resource, field) => TARGETS[resource]?.[field],
    recordsOf: (resource) => (resource === 'Thing' ? records.Thing : records.User),
    referencedOf: (resource, record) =>
      memoize(reached, record, () => presentOnly(resource === 'Thing' ? reachedByThing(record, rows) : reachedByUser(record))),
    kindOf: (resource, path) => KINDS.get(`${resource === 'Thing' ? 'resource' : 'user'}.${path}`),
  };
}

const user = { resource: 'User', isList: false };
const thing = { resource: 'Thing', isList: false };

/** The fields that refer to records, by resource. */
const TARGETS: Readonly<Record<string, Readonly<Record<string, { readonly resource: string; readonly isList: boolean }>>>> = {
  Thing: {
    ...{ ownerId: user, createdBy: user, deletedBy: user, parentId: thing, upId: thing },
    ...{ friendIds: { ...user, isList: true }, partIds: { ...thing, isList: true } },
  },
  User: { managerId: user, createdBy: user, mentorIds: { ...user, isList: true } },
};

const UP = { resource: 'Thing', parent: 'upId' };
const MANAGERS = { resource: 'User', parent: 'managerId' };

/** Returns the hierarchy of the records that a path of a thing or a user leads to. */
function hierarchyAt(resource: string, path: string): ReturnType<NonNullable<Facts['related']>['hierarchyAt']> {
  if (/(friendIds|mentorIds)\.id$/.test(path)) return MANAGERS;
  if (path === 'partIds.id') return UP;
  if (path === 'id') return resource === 'Thing' ? UP : MANAGERS;
  if (/(^|\.)(ownerId|managerId|createdBy)$/.test(path)) return MANAGERS;
  return resource === 'Thing' && /(^|\.)(parentId|upId)$/.test(path) ? UP : undefined;
}

function find(among: ReadonlyMap<string, JsonObject>, id: Json | undefined): JsonObject | undefined {
  return typeof id === 'string' ? among.get(id) : undefined;
}

function idOf(row: JsonObject, index: number): string {
  return String(row['id'] ?? `t-${String(index).padStart(3, '0')}`);
}

function automatic(id: string): JsonObject {
  // One more than the values, so that some rows have no author.
  const createdBy = AUTHORS[Number(/\d+$/.exec(id)?.[0] ?? 0) % (AUTHORS.length + 1)];
  const times = { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-31T11:00:00.000Z' };
  return { id, version: 1, ...times, ...(createdBy !== undefined && { createdBy }) };
}
