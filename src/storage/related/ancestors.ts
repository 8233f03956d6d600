/** Loads records with their ancestors. */
import { type Ancestors, ancestorsName, MAX_LEVELS } from '../../conditions/index.ts';
import type { Json } from '../../operators/index.ts';
import type { Resource } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { loadUndamagedRecords } from '../records.ts';
import { idList, quoteName, recordsOf } from '../table-names.ts';
import type { ChangedRecord, RecordSource } from './changed-record.ts';
import { createFoundMaps } from './loaded-records.ts';
import { RecordLookups } from './record-lookups.ts';
import { type RecordRead, stampOf } from './relation-reads.ts';

/** Ancestors that are loaded when a condition needs them. */
export interface AncestorStore {
  /** Returns a record and its ancestors; `unknown` if they are not loaded, and they are then loaded next. */
  find(resource: string, id: string): Ancestors | 'unknown';
  /** Returns the records that the evaluation has looked up, with their ancestors, and the absence of one. */
  reads(): readonly RecordRead[];
  readonly lookups: RecordLookups<WantedAncestors, FoundAncestors>;
  /** Returns the ancestors by `ancestorsName`. */
  facts(): Iterable<readonly [string, Json]>;
}

/** A record that is to be loaded with its ancestors. */
interface WantedAncestors {
  readonly resource: string;
  readonly id: string;
}

/** A record with its ancestors, and the reads from which they result. `unknown`: its resource has no hierarchy. */
export interface FoundAncestors {
  readonly ancestors: Ancestors | 'unknown';
  readonly reads: readonly RecordRead[];
}

const foundAncestors = createFoundMaps<FoundAncestors>({
  sizeOf: ({ ancestors }) => (ancestors === 'unknown' ? 1 : ancestors.ids.length + 1),
  dependsOn: ({ ancestors }, { record }) => ancestors !== 'unknown' && ancestors.ids.includes(record.id),
});

/** Creates an empty store. */
export function createAncestorStore(source: RecordSource): AncestorStore {
  return new LoadingAncestors(source);
}

class LoadingAncestors implements AncestorStore {
  readonly lookups: RecordLookups<WantedAncestors, FoundAncestors>;

  constructor(source: RecordSource) {
    this.lookups = new RecordLookups(foundAncestors(source), (wanted) => loadWanted(source, wanted));
  }

  find(resource: string, id: string): Ancestors | 'unknown' {
    const name = ancestorsName(resource, id);
    const known = this.lookups.find(name);
    if (known === undefined) this.lookups.want(name, { resource, id });
    return known?.ancestors ?? 'unknown';
  }

  reads(): readonly RecordRead[] {
    return this.lookups.used().flatMap(({ reads }) => reads);
  }

  facts(): Iterable<readonly [string, Json]> {
    return this.lookups.entries().map(([name, { ancestors }]) => [name, ancestors === 'unknown' ? ancestors : { ...ancestors }] as const);
  }
}

/** Loads records with their ancestors, those of each resource with one statement. */
async function loadWanted(
  source: RecordSource,
  wanted: readonly (readonly [string, WantedAncestors])[],
): Promise<readonly (readonly [string, FoundAncestors])[]> {
  const byResource = Map.groupBy(wanted, ([, { resource }]) => resource);
  const loaded = await Promise.all(
    [...byResource].map(async ([name, each]) => {
      const resource = source.definitions.get(name);
      const ids = each.map(([, { id }]) => id);
      const found = resource?.hierarchy === undefined ? undefined : await loadAncestors(source, resource, ids);
      return each.map(([key, { id }]) => [key, found?.get(id) ?? NO_HIERARCHY] as const);
    }),
  );
  return loaded.flat();
}

const NO_HIERARCHY: FoundAncestors = Object.freeze({ ancestors: 'unknown', reads: [] });

/** A record of a level: the record from which it is reached, its id, and the id of its parent. */
interface LevelRow {
  readonly first: string;
  readonly id: string;
  readonly parent: string | null;
  readonly version: number;
  readonly updatedAt: string;
}

/**
 * Loads each record with its ancestors, with one statement, and with another one if a changed parent is among them. A damaged record counts as
 * missing. Returns them by the id of the first record.
 */
async function loadAncestors(
  source: RecordSource,
  resource: Resource,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FoundAncestors>> {
  const { tx, changed } = source;
  const loaded = await tx.all<LevelRow>(selectLevels(tx, resource, ids));
  const move = findMove(loaded, resource, changed);
  const parent = move?.parent ?? undefined;
  const above = parent === undefined ? [] : await tx.all<LevelRow>(selectLevels(tx, resource, [parent]));
  const rows = Map.groupBy(loaded, ({ first }) => first);
  const parents = resource.checksum || move ? await toParents(tx, resource, { rows: [...loaded, ...above], move }) : undefined;
  const readAbove = parent === undefined ? [] : toReads(resource, parent, above);
  return new Map(
    ids.map((id) => {
      const stored = rows.get(id) ?? [];
      const levels = stored.map((row) => ({ id: row.id, parent: row.parent }));
      const ancestors = toAncestors(parents === undefined ? levels : walkIntact(id, parents));
      return [id, { ancestors, reads: tx.validatesReads ? [...toReads(resource, id, stored), ...readAbove] : [] }];
    }),
  );
}

/** Returns the changed record with its parent, if it is among the loaded ones and has another parent there. */
function findMove(
  rows: readonly LevelRow[],
  { name, hierarchy = '' }: Resource,
  changed: ChangedRecord | undefined,
): Pick<LevelRow, 'id' | 'parent'> | undefined {
  if (changed?.resource.name !== name) return undefined;
  const { id } = changed.record;
  const parent = (changed.record[hierarchy] as string | undefined) ?? null;
  return rows.some((row) => row.id === id && row.parent !== parent) ? { id, parent } : undefined;
}

/** Returns the reads of the stored levels, and that of the record that is missing above them. */
function toReads(resource: Resource, first: string, levels: readonly LevelRow[]): readonly RecordRead[] {
  const last = levels.at(-1);
  const missing = last === undefined ? first : levels.length < MAX_LEVELS ? last.parent : null;
  return [
    ...levels.map((row): RecordRead => ({ resource, id: row.id, stamp: stampOf({ ...row }) })),
    ...(missing === null ? [] : [{ resource, id: missing, stamp: null }]),
  ];
}

function toAncestors(levels: readonly Pick<LevelRow, 'id' | 'parent'>[]): Ancestors {
  const ids = levels.map(({ id }) => id);
  const last = levels.at(-1);
  if (last?.parent === null) return { ids, end: 'root' };
  return { ids, end: levels.length === MAX_LEVELS ? 'limit' : 'missing' };
}

/** Returns the levels from a record upwards, as far as the records are intact. */
function walkIntact(first: string, parents: ReadonlyMap<string, string | null>): readonly Pick<LevelRow, 'id' | 'parent'>[] {
  const levels: Pick<LevelRow, 'id' | 'parent'>[] = [];
  for (let id: string | null = first; id !== null && levels.length < MAX_LEVELS; ) {
    const parent = parents.get(id);
    if (parent === undefined) break;
    levels.push({ id, parent });
    id = parent;
  }
  return levels;
}

/** The records of all levels, and the changed one with its parent. */
interface StoredLevels {
  readonly rows: readonly LevelRow[];
  readonly move: Pick<LevelRow, 'id' | 'parent'> | undefined;
}

/** Returns the id of the parent of each record, of intact ones only. */
async function toParents(tx: Transaction, resource: Resource, { rows, move }: StoredLevels): Promise<ReadonlyMap<string, string | null>> {
  const parents = resource.checksum ? await loadParents(tx, resource, rows) : new Map(rows.map(({ id, parent }) => [id, parent]));
  return move === undefined ? parents : new Map(parents).set(move.id, move.parent);
}

/** Loads the records of all levels again, to compare their checksums. Returns the id of the parent of each intact one. */
async function loadParents(tx: Transaction, resource: Resource, rows: readonly LevelRow[]): Promise<ReadonlyMap<string, string | null>> {
  const records = await loadUndamagedRecords(tx, resource, [...new Set(rows.map(({ id }) => id))]);
  return new Map([...records].map(([id, record]) => [id, (record[resource.hierarchy ?? ''] as string | undefined) ?? null]));
}

/** Selects each record and its ancestors, in the order of the levels. A cycle ends at the last level. */
function selectLevels(tx: Transaction, resource: Resource, ids: readonly string[]): Sql {
  const [id, parent] = ['id', resource.hierarchy ?? ''].map((name) => sql.raw(`"level".${quoteName(name)}`)) as [Sql, Sql];
  const records = recordsOf(resource, { as: 'level' });
  const state = sql.raw('"level"."version", "level"."updatedAt"');
  // A statement that does not begin with SELECT counts as a write.
  return sql`SELECT "first", "id", "parent", "version", "updatedAt" FROM (WITH RECURSIVE "walk"("first", "id", "parent", "version", "updatedAt", "height") AS (
      SELECT ${id}, ${id}, ${parent}, ${state}, 1 FROM ${records} WHERE ${id} IN ${idList(tx.dialect, ids)}
      UNION ALL SELECT "walk"."first", ${id}, ${parent}, ${state}, "walk"."height" + 1 FROM "walk" JOIN ${records} ON ${id} = "walk"."parent"
      WHERE "walk"."height" < ${sql.raw(String(MAX_LEVELS))})
    SELECT * FROM "walk") AS "levels" ORDER BY "first", "height"`;
}
