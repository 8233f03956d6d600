import type { Condition, Scope } from '../conditions/index.ts';
import { Problem } from '../errors.ts';
import { ownValue } from '../operators/index.ts';
import type { Definitions, Resource, StoredRecord } from '../resources/index.ts';
import type { Transaction } from './contract.ts';
import { listRecords, type Restriction } from './record-lists.ts';
import { loadRecord } from './records.ts';
import { targetKindOf } from './sql-target.ts';

/** Records looked at in memory, where SQL cannot say all of a filter. */
const SCAN = 100_000;

/** A filter names fields of the record itself, and follows no reference. */
const ITS_OWN_ALONE: Definitions = new Map();

/** A search for matches. */
export interface MatchQuery {
  /** Reads nothing but the record. */
  readonly filter: Condition;
  /** The records among which matches are looked for; all where absent. */
  readonly readable?: Restriction | undefined;
  /** Say where references lead that `readable` follows. */
  readonly definitions?: Definitions | undefined;
  /** IANA name; UTC where absent. */
  readonly timeZone?: string | undefined;
  readonly limit: number;
  /** Milliseconds that the transaction may spend on evaluating records in memory; as a list where absent. */
  readonly scanMilliseconds?: number | undefined;
  /** Whether the matches are to be changed: then they are held, and still match when this answers. */
  readonly toChange?: boolean | undefined;
}

/** Times that matches are looked for again, where others change what was found before it could be held. */
const ATTEMPTS = 5;

/**
 * The first records that a filter matches, up to `limit`. Whether there is a match decides what is created and changed,
 * so it is never guessed: where looking would take too long, REQUEST_PARAMETER.
 */
export async function findMatches(tx: Transaction, resource: Resource, query: MatchQuery): Promise<readonly StoredRecord[]> {
  let found = await findNow(tx, resource, query);
  if (query.toChange !== true) return found;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    for (const { id } of found) await loadRecord(tx, resource, { id, lock: 'noKeyUpdate' });
    const still = await findNow(tx, resource, query);
    if (still.length === found.length && still.every((record, index) => isSame(record, found[index]))) return still;
    found = still;
  }
  throw new Problem('STORAGE_BUSY', 'the records that the filter matches are being changed by others');
}

function isSame(record: StoredRecord, found: StoredRecord | undefined): boolean {
  return record.id === found?.id && record.version === found.version;
}

async function findNow(tx: Transaction, resource: Resource, query: MatchQuery): Promise<readonly StoredRecord[]> {
  const { filter, readable, definitions = ITS_OWN_ALONE, timeZone = 'UTC', limit, scanMilliseconds } = query;
  const page = await listRecords(tx, resource, {
    where: filter,
    scopeFor: (record) => scopeOf(resource, record, { now: tx.now, timeZone }),
    and: readable,
    definitions,
    sort: [],
    limit,
    scanLimit: SCAN,
    scanMilliseconds,
    now: tx.now,
    timeZone,
  });
  if (!page.truncated || page.records.length === limit) return page.records;
  throw new Problem(
    'REQUEST_PARAMETER',
    'the filter would have to be tried on too many records one by one; expected a field that the database can compare',
  );
}

/** The record and nothing else. */
function scopeOf(resource: Resource, record: StoredRecord, moment: Pick<Scope, 'now' | 'timeZone'>): Scope {
  return {
    ...moment,
    valueOf: ({ group, keys: [key, ...inner] }) => (group === 'resource' && inner.length === 0 ? ownValue(record, key ?? '') : undefined),
    kindOf: (path) => targetKindOf(resource, ITS_OWN_ALONE, path),
  };
}
