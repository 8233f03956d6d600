import type { Decision } from '../../authz/decision/index.ts';
import { OPEN } from '../../conditions/index.ts';
import { Problem } from '../../errors.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import type { Expansion } from '../../request/index.ts';
import { type Resource, type StoredRecord, showRecord } from '../../resources/index.ts';
import { loadRecords, loadReferencing } from '../../storage/index.ts';
import type { Job } from '../step-context.ts';
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
export async function expandEach(job: Job, records: readonly StoredRecord[], expansions: readonly Expansion[]): Promise<JsonObject[]> {
  if (records.length === 0) return [];
  const met: Met = { records: new Map(), open: new Map() };
  // The record that is read was decided on as such already.
  if (job.request.action === 'read')
    for (const record of records) metOf(met, job.resource).set(record.id, showRecord(job.resource, record));
  const columns: (readonly [string, (record: StoredRecord) => Json])[] = [];
  for (const expansion of expansions) {
    const expand = expansion.kind === 'referring' ? expandReferring : expandReferences;
    columns.push([expansion.name, await expand(job, { expansion, records, met })]);
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

async function expandReferences(job: Job, { expansion, records, met }: Expanding): Promise<(record: StoredRecord) => Json> {
  const { field, of, kind } = expansion;
  const idsOf = (record: StoredRecord): readonly string[] => [record[field.name]].flat().filter((id) => typeof id === 'string');
  const known = metOf(met, of);
  const asked = [...new Set(records.flatMap(idsOf))].filter((id) => !known.has(id));
  const stored = await loadRecords(job.tx, of, asked);
  await meet(job, { of, records: asked.flatMap((id) => stored.get(id) ?? []), known });
  for (const id of asked) {
    if (stored.has(id)) continue;
    await decideOn(job, { resource: of, action: 'read', record: undefined, recordId: id });
    known.set(id, null);
  }
  const shownOf = (record: StoredRecord): readonly JsonObject[] => shownAmong(known, idsOf(record));
  return kind === 'references' ? shownOf : (record) => shownOf(record)[0] ?? null;
}

/**
 * The condition under which the caller may read is a part of what is looked for, as in a list: otherwise records that they
 * may not read would take the places of those that they may, and tell how many there are.
 */
async function expandReferring(job: Job, { expansion, records, met }: Expanding): Promise<(record: StoredRecord) => Json> {
  const { field, of, limit } = expansion;
  const decision = await decideAny(job, of, met);
  if (decision.effect === 'deny') return () => [];
  const where = allowedWhere(decision);
  const { tx, model, settings } = job;
  checkTime(job, of);
  const began = performance.now();
  const referring = await loadReferencing(tx, of, {
    field: field.name,
    to: records.map(({ id }) => id),
    limit,
    where,
    scopeFor: await scopesFor(job, { resource: of, action: 'read', where }),
    definitions: model.definitions,
    scanLimit: settings.scanRows,
    scanMilliseconds: settings.scanMilliseconds,
    now: tx.now,
    timeZone: settings.timeZone,
  });
  searched(tx, performance.now() - began);
  const known = metOf(met, of);
  await meet(job, { of, records: records.flatMap(({ id }) => referring.get(id) ?? []), known });
  return (record) =>
    shownAmong(
      known,
      (referring.get(record.id) ?? []).map(({ id }) => id),
    );
}

/** What few may read of many that refer takes long to find, and a batch may ask for it many times. */
function checkTime({ tx }: Job, of: Resource): void {
  if (searched(tx, 0) <= SEARCH_TIME) return;
  throw new Problem(
    'REQUEST_PARAMETER',
    `expand: looking for what refers has taken too long already; expected ${of.name} in a request of its own, or fewer names`,
  );
}

/** Decides with the record open, once for each resource. Its entry stays where it denies: otherwise each record shown has one. */
async function decideAny(job: Job, of: Resource, { open }: Met): Promise<Decision> {
  const known = open.get(of);
  if (known !== undefined) return known;
  const decision = await decideOn(job, { resource: of, action: 'read', record: OPEN });
  if (decision.effect !== 'deny') job.entries.pop();
  open.set(of, decision);
  return decision;
}

interface Meeting {
  readonly of: Resource;
  readonly records: readonly StoredRecord[];
  readonly known: MetRecords;
}

/** Decides on each record that was not met before. */
async function meet(job: Job, { of, records, known }: Meeting): Promise<void> {
  const asked = records.filter(({ id }) => !known.has(id));
  const decisions = await decideOnEach(job, { resource: of, action: 'read', records: asked });
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
