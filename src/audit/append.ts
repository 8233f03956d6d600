import { type RawBuilder, sql } from 'kysely';
import { memoised } from '../memo.ts';
import { insertionInto, type Statement, type Transaction } from '../storage/index.ts';
import type { Entry } from './entry.ts';

/** Characters kept of what callers choose freely: ids, addresses, request ids. */
const MAX_NAME = 200;
/** Characters kept of a reason: it names a rule and a policy, both bounded when they are written. */
const MAX_REASON = 2000;

/**
 * Appends an entry and counts it in its hour, in the transaction of what it is about: one exists if and only if the other does.
 * Every value is bound, and bounded in length, so that nothing a caller sends can forge or flood the record.
 */
export async function appendEntry(tx: Transaction, entry: Entry): Promise<void> {
  await tx.run(insertion(tx, entry));
  if (entry.kind === 'access') await tx.run(counting(entry));
}

const COLUMNS = [
  ...['id', 'at', 'kind', 'userId', 'role', 'resource', 'action', 'recordId', 'allowed'],
  ...['reason', 'ruleId', 'policyId', 'epoch', 'requestId', 'ip', 'outcome', 'facts'],
];

function insertion({ dialect }: Transaction, entry: Entry): Statement {
  const { id, at, kind, allowed, epoch, facts } = entry;
  const who = [bounded(entry.userId), bounded(entry.role)];
  const what = [bounded(entry.resource), bounded(entry.action), bounded(entry.recordId)];
  const why = [bounded(entry.reason, MAX_REASON), bounded(entry.ruleId), bounded(entry.policyId)];
  const how = [bounded(entry.requestId), bounded(entry.ip), bounded(entry.outcome), facts === undefined ? null : JSON.stringify(facts)];
  return { sql: textFor(dialect), parameters: [id, at, kind, ...who, ...what, allowed, ...why, epoch, ...how] };
}

const texts = new WeakMap<Transaction['dialect'], string>();

/** Put together once: entries are appended more often than anything else is done. */
function textFor(dialect: Transaction['dialect']): string {
  return memoised(texts, dialect, () => insertionInto(dialect, '_Decision', COLUMNS));
}

/** Hourly counts are kept as entries are appended: analytics never count the entries themselves. */
function counting({ at, resource, allowed }: Entry): RawBuilder<unknown> {
  const hour = toHour(at);
  const name = bounded(resource);
  return sql`
    insert into "_DecisionHour" ("id", "hour", "resource", "grants", "denials")
    values (${`${hour} ${name}`}, ${hour}, ${name}, ${allowed ? 1 : 0}, ${allowed ? 0 : 1})
    on conflict ("id") do update set
      "grants" = "_DecisionHour"."grants" + excluded."grants",
      "denials" = "_DecisionHour"."denials" + excluded."denials"`;
}

/** `2026-01-31T14:59:07.120Z` is in the hour `2026-01-31T14:00:00.000Z`. */
function toHour(at: string): string {
  return `${at.slice(0, 13)}:00:00.000Z`;
}

/** Cut to length, and rid of what a database cannot keep: NUL, and the half of a surrogate pair that a cut may leave. */
function bounded(text: string | undefined, max: number = MAX_NAME): string | null {
  return text === undefined ? null : text.slice(0, max).toWellFormed().replaceAll('\u0000', '\ufffd');
}
