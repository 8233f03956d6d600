import type { Decision } from '../../authz/decision/index.ts';
import { UNRESOLVED } from '../../conditions/index.ts';
import { Problem } from '../../errors.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import type { Expansion } from '../../request/index.ts';
import { type Resource, type StoredRecord, showRecord } from '../../resources/index.ts';
import { loadRecords, loadReferencing } from '../../storage/index.ts';
import type { RequestContext } from '../request-context.ts';
import { countDecisions } from './cascade-delete.ts';
import { decideOn, decideOnEach } from './decide-request.ts';
import { allowedWhere, scopesFor } from './decision-scopes.ts';

/** Milliseconds that the requests of a transaction may spend looking for what refers. Whoever else asks waits meanwhile. */
const SEARCH_TIME = 1000;

const searched = countDecisions();

/**
 * What stands under `expand` of each record: the records it refers to, or that refer to it, as far as the caller may read
 * them. Each is decided as a read of it alone would be, once in a request, and leaves that entry. What may not be read and
 * what is not there look alike.
 */
export async function expandEach(
  context: RequestContext,
  records: readonly StoredRecord[],
  expansions: readonly Expansion[],
): Promise<JsonObject[]> {
  if (records.length === 0) return [];
  const met: Met = { records: new Map(), open: new Map() };
  // The record that is read was decided on as such already.
  if (context.request.action === 'read')
    for (const record of records) metOf(met, context.resource).set(record.id, showRecord(context.resource, record));
  const columns: (readonly [string, (record: StoredRecord) => Json])[] = [];
  for (const expansion of expansions) {
    const expand = expansion.kind === 'referring' ? expandReferring : expandReferences;
    columns.push([expansion.name, await expand(context, { expansion, records, met })]);
  }
  return records.map((record) => Object.fromEntries(columns.map(([name, valueIn]) => [name, valueIn(record)])));
}

/** What the request has met so far. */
interface Met {
  /** By resource and id; null for what the caller may not read, and for what is not there. */
  readonly records: Map<Resource, MetRecords>;
  /** Whether a resource is readable at all, and where. */
  readonly open: Map<Resource, Decision>;
}

type MetRecords = Map<string, JsonObject | null>;

interface Expanding {
  readonly expansion: Expansion;
  readonly records: readonly StoredRecord[];
  readonly met: Met;
}

async function expandReferences(context: RequestContext, { expansion, records, met }: Expanding): Promise<(record: StoredRecord) => Json> {
  const { field, of, kind } = expansion;
  const idsOf = (record: StoredRecord): readonly string[] => [record[field.name]].flat().filter((id) => typeof id === 'string');
  const known = metOf(met, of);
  const asked = [...new Set(records.flatMap(idsOf))].filter((id) => !known.has(id));
  const stored = await loadRecords(context.tx, of, asked);
  await meet(context, { of, records: asked.flatMap((id) => stored.get(id) ?? []), known });
  for (const id of asked) {
    if (stored.has(id)) continue;
    await decideOn(context, { resource: of, action: 'read', record: undefined, recordId: id });
    known.set(id, null);
  }
  const shownOf = (record: StoredRecord): readonly JsonObject[] => shownAmong(known, idsOf(record));
  return kind === 'references' ? shownOf : (record) => shownOf(record)[0] ?? null;
}

/**
 * The condition under which the caller may read is a part of what is looked for, as in a list: otherwise records that they
 * may not read would take the places of those that they may, and tell how many there are.
 */
async function expandReferring(context: RequestContext, { expansion, records, met }: Expanding): Promise<(record: StoredRecord) => Json> {
  const { field, of, limit } = expansion;
  const decision = await decideAny(context, of, met);
  if (decision.effect === 'deny') return () => [];
  const where = allowedWhere(decision);
  const { tx, snapshot, options } = context;
  checkTime(context, of);
  const began = performance.now();
  const referring = await loadReferencing(tx, of, {
    field: field.name,
    to: records.map(({ id }) => id),
    limit,
    where,
    scopeFor: await scopesFor(context, { resource: of, action: 'read', where }),
    definitions: snapshot.definitions,
    scanLimit: options.scanRows,
    scanMilliseconds: options.scanMilliseconds,
    now: tx.now,
    timeZone: options.timeZone,
  });
  searched(tx, performance.now() - began);
  const known = metOf(met, of);
  await meet(context, { of, records: records.flatMap(({ id }) => referring.get(id) ?? []), known });
  return (record) =>
    shownAmong(
      known,
      (referring.get(record.id) ?? []).map(({ id }) => id),
    );
}

/** What few may read of many that refer takes long to find, and a batch may ask for it many times. */
function checkTime({ tx }: RequestContext, of: Resource): void {
  if (searched(tx, 0) <= SEARCH_TIME) return;
  throw new Problem(
    'REQUEST_PARAMETER',
    `expand: looking for what refers has taken too long already; expected ${of.name} in a request of its own, or fewer names`,
  );
}

/** Decides with the record open, once for each resource. Its entry stays where it denies: otherwise each record shown has one. */
async function decideAny(context: RequestContext, of: Resource, { open }: Met): Promise<Decision> {
  const known = open.get(of);
  if (known !== undefined) return known;
  const decision = await decideOn(context, { resource: of, action: 'read', record: UNRESOLVED });
  if (decision.effect !== 'deny') context.entries.pop();
  open.set(of, decision);
  return decision;
}

interface Meeting {
  readonly of: Resource;
  readonly records: readonly StoredRecord[];
  readonly known: MetRecords;
}

/** Decides on each record that was not met before. */
async function meet(context: RequestContext, { of, records, known }: Meeting): Promise<void> {
  const asked = records.filter(({ id }) => !known.has(id));
  const decisions = await decideOnEach(context, { resource: of, action: 'read', records: asked });
  for (const [index, record] of asked.entries()) {
    known.set(record.id, decisions[index]?.effect === 'allow' ? showRecord(of, record) : null);
  }
}

function shownAmong(known: MetRecords, ids: readonly string[]): readonly JsonObject[] {
  return ids.map((id) => known.get(id) ?? null).filter((record) => record !== null);
}

function metOf({ records }: Met, of: Resource): MetRecords {
  const known: MetRecords = records.get(of) ?? new Map();
  records.set(of, known);
  return known;
}
