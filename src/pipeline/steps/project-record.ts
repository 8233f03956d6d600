import { Problem } from '../../errors.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import { type Expansion, type Projection, resolveProjection } from '../../request/index.ts';
import { describeResource, type StoredRecord, showRecord } from '../../resources/index.ts';
import type { Decided, RequestContext, Result } from '../request-context.ts';
import { createUsageCounter } from '../usage-counter.ts';
import { expandEach } from './expand-references.ts';

const countExpanded = createUsageCounter();

/** Returns the record of a read. */
export async function show(context: RequestContext, { found }: Decided): Promise<Result> {
  const record = found[0] as StoredRecord;
  const { version } = record;
  const projection = projectionFor(context, 1);
  if (projection.expansions.length === 0) return { status: 200, data: showRecord(context.resource, record, projection.fields), version };
  const [data] = await projectEach(context, [record], projection);
  return { status: 200, data, version };
}

/** Returns the description of the resource's fields. */
export async function describe(context: RequestContext): Promise<Result> {
  return { status: 200, data: describeResource(context.resource) };
}

/**
 * Resolves the projection of a request for up to `limit` records. Refuses expansions by the number of records that they could return,
 * before any record is read, so a refusal does not depend on stored records.
 */
export function projectionFor(context: RequestContext, limit: number): Projection {
  const projection = resolveProjection(context.snapshot.definitions, context.resource, context.request);
  const perRecord = projection.expansions.reduce((sum, { kind, limit: each }) => sum + (kind === 'references' ? 0 : each), 0);
  validateExpansions(context, limit * perRecord);
  return projection;
}

/** Returns the selected fields of each record, with its expanded records under `expand`. */
export async function projectEach(
  context: RequestContext,
  records: readonly StoredRecord[],
  { fields, expansions }: Projection,
): Promise<readonly JsonObject[]> {
  const projected = records.map((record) => showRecord(context.resource, record, fields));
  if (expansions.length === 0) return projected;
  // The lengths of lists of references are known only now. The caller may read these records, so a refusal may depend on the lengths.
  validateExpansions(context, countItems(records, expansions));
  const expand = await expandEach(context, records, expansions);
  return projected.map((record, index) => ({ ...record, expand: expand[index] ?? {} }));
}

function validateExpansions({ tx, options: { expandMax } }: RequestContext, count: number): void {
  if (count === 0) return;
  const total = countExpanded(tx, count);
  if (total <= expandMax) return;
  const detail = `expected at most ${expandMax} records to expand, given up to ${total}; ask for a smaller limit, or for fewer names`;
  throw new Problem('REQUEST_PARAMETER', `expand: ${detail}`, { errors: [{ path: 'expand', code: 'tooMany', detail }] });
}

function countItems(records: readonly StoredRecord[], expansions: readonly Expansion[]): number {
  const names = expansions.filter(({ kind }) => kind === 'references').map(({ field }) => field.name);
  return records.reduce((sum, record) => sum + names.reduce((items, name) => items + lengthOf(record[name]), 0), 0);
}

function lengthOf(value: Json | undefined): number {
  return Array.isArray(value) ? value.length : 0;
}
