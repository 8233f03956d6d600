import { type Condition, compileCondition } from '../../conditions/index.ts';
import type { Definitions, Resource, StoredRecord } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { columnOf, type Existence } from '../table-names.ts';
import { noteListed, resourcesReadBy } from './listed-records.ts';
import { sqlTargetFor } from './sql-target.ts';

/** A condition, and the stored record that it is evaluated for. */
export interface RecordMatch {
  readonly where: Condition;
  readonly record: StoredRecord;
  readonly existence?: Existence | undefined;
  readonly definitions: Definitions;
  /** IANA time zone. */
  readonly timeZone: string;
}

/**
 * Returns true if a stored record matches a condition, with the statement of a list. Adds a record that matches to the read set, as a list does.
 * Returns undefined if the database cannot evaluate the condition.
 */
export async function matchRecord(tx: Transaction, resource: Resource, match: RecordMatch): Promise<boolean | undefined> {
  const { where, record, existence, definitions, timeZone } = match;
  const { now } = tx;
  const target = sqlTargetFor(resource, definitions, { dialect: tx.dialect, now, timeZone, existence });
  const compiled = compileCondition(where, target);
  if (!compiled.exact) return undefined;
  const isRecord = sql`${columnOf(resource, 'id')} = ${record.id}`;
  const found = await tx.one(sql`SELECT 1 AS "found" FROM ${target.tables()} WHERE ${isRecord} AND ${compiled.where}`);
  await tx.checkTime();
  if (found === undefined) return false;
  await noteListed(tx, resource, {
    query: { definitions, existence, now, timeZone },
    restrictions: [{ where }],
    dependsOn: resourcesReadBy(where, { resource, definitions }),
    page: { records: [record] },
  });
  return true;
}
