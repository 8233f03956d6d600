import { Problem } from '../../errors.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import { type Expansion, type Projection, resolveProjection } from '../../request/index.ts';
import { type StoredRecord, showRecord } from '../../resources/index.ts';
import type { RequestContext } from '../request-context.ts';
import { countDecisions } from './cascade-delete.ts';
import { expandEach } from './expand-references.ts';

const expanded = countDecisions();

/**
 * Which parts of up to `limit` records the request asks for. What it asks to be expanded is bounded here, by what it could
 * come to: before a record is read, and alike whatever there is to be found.
 */
export function readShowing(context: RequestContext, limit: number): Projection {
  const shown = resolveProjection(context.snapshot.definitions, context.resource, context.request);
  claim(context, limit * shown.expansions.reduce((sum, { kind, limit: each }) => sum + (kind === 'references' ? 0 : each), 0));
  return shown;
}

/** Records as the caller sees them, with what is expanded of each beside its fields. */
export async function showEach(
  context: RequestContext,
  records: readonly StoredRecord[],
  { fields, expansions }: Projection,
): Promise<readonly JsonObject[]> {
  const shown = records.map((record) => showRecord(context.resource, record, fields));
  if (expansions.length === 0) return shown;
  // How long lists of references are, only their records say; who sees those may know.
  claim(context, countItems(records, expansions));
  const expand = await expandEach(context, records, expansions);
  return shown.map((record, index) => ({ ...record, expand: expand[index] ?? {} }));
}

function claim({ tx, options: { expandMax } }: RequestContext, count: number): void {
  if (count === 0) return;
  const total = expanded(tx, count);
  if (total <= expandMax) return;
  const detail = `expected at most ${expandMax} records to expand, given up to ${total}; ask for a smaller limit, or for fewer names`;
  throw new Problem('REQUEST_PARAMETER', `expand: ${detail}`, { errors: [{ path: 'expand', code: 'count', detail }] });
}

function countItems(records: readonly StoredRecord[], expansions: readonly Expansion[]): number {
  const names = expansions.filter(({ kind }) => kind === 'references').map(({ field }) => field.name);
  return records.reduce((sum, record) => sum + names.reduce((items, name) => items + lengthOf(record[name]), 0), 0);
}

function lengthOf(value: Json | undefined): number {
  return Array.isArray(value) ? value.length : 0;
}
