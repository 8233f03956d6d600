import type { Decision } from '../../authz/decision/index.ts';
import { UNRESOLVED } from '../../conditions/index.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import type { Expansion } from '../../request/index.ts';
import { type Resource, type StoredRecord, showRecord } from '../../resources/index.ts';
import { loadRecords, loadReferencing, type PageSize, rowsPerStatement } from '../../storage/index.ts';
import { toAnswerProblem } from '../answer-budget.ts';
import type { RequestContext } from '../request-context.ts';
import { allowedWhere, decideOn, decideOnEach, restrictionFor } from './decide-request.ts';

/**
 * Returns the `expand` member of each record: the records that it references, or that reference it, as far as the caller may
 * read them. Each expanded record is decided like a single read, once per request, with its own audit entry. A record that the caller may not
 * read looks like one that does not exist.
 */
export async function expandEach(
  context: RequestContext,
  records: readonly StoredRecord[],
  expansions: readonly Expansion[],
): Promise<JsonObject[]> {
  if (records.length === 0) return [];
  const cache: ExpansionCache = { records: new Map(), decisions: new Map(), size: context.budget.answer.page() };
  // The request was decided on the record that it reads, so a reference to that record needs no further decision.
  if (context.request.action === 'read')
    for (const record of records) recordsOf(cache, context.resource).set(record.id, showRecord(context.resource, record));
  const columns: (readonly [string, (record: StoredRecord) => Json])[] = [];
  for (const expansion of expansions) {
    const expand = expansion.kind === 'referencing' ? expandReferencing : expandReferences;
    columns.push([expansion.name, await expand(context, { expansion, records, cache })]);
  }
  return records.map((record) => Object.fromEntries(columns.map(([name, valueIn]) => [name, valueIn(record)])));
}

/** The decisions of the request on records to expand. */
interface ExpansionCache {
  /** Projected records by resource and id; null for records that the caller may not read or that do not exist. */
  readonly records: Map<Resource, CachedRecords>;
  /** The decisions on `read` with an unknown record, by resource. */
  readonly decisions: Map<Resource, Decision>;
  /** The size of the readable records. */
  readonly size: PageSize;
}

type CachedRecords = Map<string, JsonObject | null>;

interface ExpansionInput {
  readonly expansion: Expansion;
  readonly records: readonly StoredRecord[];
  readonly cache: ExpansionCache;
}

async function expandReferences(
  context: RequestContext,
  { expansion, records, cache }: ExpansionInput,
): Promise<(record: StoredRecord) => Json> {
  const { field, of, kind } = expansion;
  const idsOf = (record: StoredRecord): readonly string[] => [record[field.name]].flat().filter((id) => typeof id === 'string');
  const known = recordsOf(cache, of);
  const missing = [...new Set(records.flatMap(idsOf))].filter((id) => !known.has(id));
  const size = rowsPerStatement(of);
  for (let at = 0; at < missing.length; at += size) await loadMissing(context, { of, ids: missing.slice(at, at + size), cache });
  const readableOf = (record: StoredRecord): readonly JsonObject[] => selectReadable(known, idsOf(record));
  return kind === 'references' ? readableOf : (record) => readableOf(record)[0] ?? null;
}

interface MissingRecords {
  readonly of: Resource;
  readonly ids: readonly string[];
  readonly cache: ExpansionCache;
}

/** Loads and decides the records with these ids, and adds them to the cache. */
async function loadMissing(context: RequestContext, { of, ids, cache }: MissingRecords): Promise<void> {
  const stored = await loadRecords(context.tx, of, ids);
  await decideMissing(context, { of, records: ids.flatMap((id) => stored.get(id) ?? []), cache });
  for (const id of ids) {
    if (stored.has(id)) continue;
    await decideOn(context, { resource: of, action: 'read', record: undefined, recordId: id });
    recordsOf(cache, of).set(id, null);
  }
}

/**
 * Expands referencing records. Searches only for records that the caller may read, as a list does; otherwise unreadable records
 * would count towards the limit and reveal their number.
 */
async function expandReferencing(
  context: RequestContext,
  { expansion, records, cache }: ExpansionInput,
): Promise<(record: StoredRecord) => Json> {
  const { field, of, limit } = expansion;
  const decision = await decideReadingOf(context, of, cache);
  if (decision.effect === 'deny') return () => [];
  const { tx, snapshot, options, budget } = context;
  const referencing = await loadReferencing(tx, of, {
    field: field.name,
    to: records.map(({ id }) => id),
    limit,
    ...(await restrictionFor(context, { resource: of, action: 'read', where: allowedWhere(decision) })),
    definitions: snapshot.definitions,
    budget,
    now: tx.now,
    timeZone: options.timeZone,
  });
  const known = recordsOf(cache, of);
  await decideMissing(context, { of, records: records.flatMap(({ id }) => referencing.get(id) ?? []), cache });
  return (record) =>
    selectReadable(
      known,
      (referencing.get(record.id) ?? []).map(({ id }) => id),
    );
}

/** Decides `read` on an unknown record, once per resource. Only a denial keeps its audit entry; otherwise each expanded record has an entry. */
async function decideReadingOf(context: RequestContext, of: Resource, { decisions }: ExpansionCache): Promise<Decision> {
  const known = decisions.get(of);
  if (known !== undefined) return known;
  const decision = await decideOn(context, { resource: of, action: 'read', record: UNRESOLVED });
  if (decision.effect !== 'deny') context.entries.pop();
  decisions.set(of, decision);
  return decision;
}

interface LoadedRecords {
  readonly of: Resource;
  readonly records: readonly StoredRecord[];
  readonly cache: ExpansionCache;
}

/**
 * Decides `read` on the records that are not in the cache, and adds the records: projected if readable, otherwise null. Each readable record
 * is at least once in the answer, so records that do not fit are refused before further ones are loaded.
 */
async function decideMissing(context: RequestContext, { of, records, cache }: LoadedRecords): Promise<void> {
  const known = recordsOf(cache, of);
  const missing = records.filter(({ id }) => !known.has(id));
  const decisions = await decideOnEach(context, { resource: of, action: 'read', records: missing });
  for (const [index, record] of missing.entries()) {
    const shown = decisions[index]?.effect === 'allow' ? showRecord(of, record) : null;
    if (shown !== null && !cache.size.add(shown, 0)) throw toAnswerProblem(context.budget);
    known.set(record.id, shown);
  }
}

function selectReadable(known: CachedRecords, ids: readonly string[]): readonly JsonObject[] {
  return ids.map((id) => known.get(id) ?? null).filter((record) => record !== null);
}

function recordsOf({ records }: ExpansionCache, of: Resource): CachedRecords {
  const known: CachedRecords = records.get(of) ?? new Map();
  records.set(of, known);
  return known;
}
