import type { UserValueCounts } from '../authz/linter/index.ts';
import type { Resource } from '../resources/index.ts';
import { sql } from '../sql.ts';
import type { Transaction } from './contract.ts';
import { columnOf, quoteName, recordsOf } from './table-names.ts';

/** Counts in one pass, over at most `limit` users, who has a value in the fields of User that are not secret and may have none. */
export async function countUserValues(tx: Transaction, user: Resource, { limit }: { readonly limit: number }): Promise<UserValueCounts> {
  const names = [...user.fields.values()].filter((field) => !field.writeOnly && !field.required).map((field) => field.name);
  const aggregates = names.map((name) => sql`, count(${sql.raw(quoteName(name))}) AS ${sql.raw(quoteName(name))}`);
  const columns = names.map((name) => sql`, ${columnOf(user, name)} AS ${sql.raw(quoteName(name))}`);
  // A field's name begins with a letter, so none is `#`.
  const row = await tx.one<Record<string, number | bigint>>(sql`
    SELECT count(*) AS "#"${sql.join(aggregates, sql``)}
    FROM (SELECT ${columnOf(user, 'id')} AS "#"${sql.join(columns, sql``)} FROM ${recordsOf(user)} WHERE "isActive" = TRUE LIMIT ${limit}) AS "looked"`);
  const counts = new Map(Object.entries(row ?? {}).map(([name, count]) => [name, Number(count)]));
  const counted = counts.get('#') ?? 0;
  return { counted, isComplete: counted < limit, withValue: new Map(names.map((name) => [name, counts.get(name) ?? 0])) };
}
