import { ALWAYS, all, type Condition, type Scope } from '../../conditions/index.ts';
import { Problem } from '../../errors.ts';
import { type Json, ownValue } from '../../operators/index.ts';
import { filterKey } from '../../request/index.ts';
import type { Definitions, Resource, StoredRecord } from '../../resources/index.ts';
import type { PageSize } from '../answer-size.ts';
import { type Budget, describeLimit } from '../budget.ts';
import type { Transaction } from '../contract.ts';
import { loadRecord } from '../records.ts';
import type { Restriction } from './list-query.ts';
import { listRecords } from './record-lists.ts';
import { targetKindOf } from './sql-target.ts';

/** No definitions, because the filter of a search uses only fields of the record itself. */
const NO_REFERENCES: Definitions = new Map();

/** A search for the records that match a filter. */
export interface MatchQuery {
  /** A condition on the record alone. */
  readonly filter: Condition;
  /** Restricts the search to readable records; all if absent. */
  readonly readable?: Restriction | undefined;
  /** The definitions of the resources that `readable` references. */
  readonly definitions?: Definitions | undefined;
  /** IANA time zone; UTC if absent. */
  readonly timeZone?: string | undefined;
  readonly limit: number;
  /** True if the filter compares a unique field for equality. */
  readonly isIndexed?: boolean | undefined;
  readonly budget: Budget;
  /** True if the matches will be changed: locks them and verifies that they still match. */
  readonly toChange?: boolean | undefined;
}

/** Maximum repetitions of a search whose matches other transactions change before they are locked. */
const ATTEMPTS = 5;

/**
 * Finds the first records that match a filter, up to `limit`. The result decides whether a record is created or changed, so a search that
 * exceeds the budget throws REQUEST_BUDGET.
 */
export function findMatches(tx: Transaction, resource: Resource, query: MatchQuery): Promise<readonly StoredRecord[]> {
  return query.budget.search(() => (query.toChange === true ? findToChange(tx, resource, query) : findNow(tx, resource, query)));
}

/**
 * Finds the records to change and locks them. The ids are retained, because an attempt that writes after a long search has too little time
 * for another one: it tries the filter again on these records only.
 */
async function findToChange(tx: Transaction, resource: Resource, query: MatchQuery): Promise<readonly StoredRecord[]> {
  const key = `matches ${resource.name} ${filterKey(resource, query.filter)}`;
  const retained = tx.attempt === 'writer' ? (tx.retained.get(key) as readonly string[] | undefined) : undefined;
  // A later request of a batch with the same filter searches for itself, because this request may change the matches.
  tx.retained.delete(key);
  if (retained !== undefined) {
    const still = await findNow(tx, resource, { ...query, filter: all([isOneOf(retained), query.filter]) });
    if (still.length === retained.length) return still;
    throw busy();
  }
  const found = await findNow(tx, resource, query);
  if (found.length === 0) return found;
  // Locking ends a long attempt.
  if (tx.attempt === 'long') tx.retained.set(key, ids(found));
  return lockMatches(tx, resource, { ...query, found });
}

interface FoundMatches extends MatchQuery {
  readonly found: readonly StoredRecord[];
}

/** Locks records that match, and searches again until the locked records are those that match. */
async function lockMatches(
  tx: Transaction,
  resource: Resource,
  { found: first, ...query }: FoundMatches,
): Promise<readonly StoredRecord[]> {
  let found = first;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    for (const { id } of found) await loadRecord(tx, resource, { id, lock: 'noKeyUpdate' });
    const still = await findNow(tx, resource, query);
    if (still.length === found.length && still.every((record, index) => isSame(record, found[index]))) return still;
    found = still;
  }
  throw busy();
}

function ids(records: readonly StoredRecord[]): readonly string[] {
  return records.map(({ id }) => id);
}

function isOneOf(wanted: readonly string[]): Condition {
  return {
    type: 'comparison',
    path: { group: 'resource', keys: ['id'], text: 'resource.id' },
    operator: 'in',
    operand: { type: 'literal', value: wanted as Json },
    ifExists: false,
  };
}

function busy(): Problem {
  return new Problem('STORAGE_BUSY', 'the records that the filter matches are being changed by others');
}

function isSame(record: StoredRecord, found: StoredRecord | undefined): boolean {
  return record.id === found?.id && record.version === found.version;
}

/** Counts no bytes, because the records that a search finds are not a part of the answer. */
const UNLIMITED: PageSize = { estimated: 0, add: () => true };

async function findNow(tx: Transaction, resource: Resource, query: MatchQuery): Promise<readonly StoredRecord[]> {
  const { filter, definitions = NO_REFERENCES, timeZone = 'UTC', limit, isIndexed, budget } = query;
  // Records to change are locked, and each is decided on again.
  const readable = query.readable && query.toChange === true ? { ...query.readable, decided: ALWAYS } : query.readable;
  const page = await listRecords(tx, resource, {
    where: filter,
    decided: ALWAYS,
    scopeFor: (record) => scopeOf(resource, record, { now: tx.now, timeZone }),
    and: readable,
    definitions,
    sort: [],
    limit,
    isIndexed,
    budget,
    size: UNLIMITED,
    now: tx.now,
    timeZone,
  });
  if (!page.truncated || page.records.length === limit) return page.records;
  const detail = `the search for records that match the filter has reached the limit of ${describeLimit(budget.limits, page.truncated)}`;
  throw new Problem('REQUEST_BUDGET', detail, { hint: 'filter by an indexed field, with an operator that the database can compare' });
}

/** Returns a scope that resolves only the fields of the record. */
function scopeOf(resource: Resource, record: StoredRecord, moment: Pick<Scope, 'now' | 'timeZone'>): Scope {
  return {
    ...moment,
    valueOf: ({ group, keys: [key, ...inner] }) => (group === 'resource' && inner.length === 0 ? ownValue(record, key ?? '') : undefined),
    kindOf: (path) => targetKindOf(resource, NO_REFERENCES, path),
  };
}
