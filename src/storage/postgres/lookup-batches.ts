import { getOrCreate } from '../../memoize.ts';
import type { Statement } from '../contract.ts';
import type { QueryResult } from './connection.ts';
import { toArrayLiteral } from './sql-dialect.ts';

/** A statement that does the work of one or more lookups. */
export interface LookupBatch<Lookup> {
  readonly statement: Statement;
  readonly lookups: readonly Lookup[];
  /** Returns the results of the lookups, in their order. */
  toResults(result: QueryResult): readonly QueryResult[];
}

/**
 * Combines lookups with the same text into one statement with an array for each parameter: most of the cost of a lookup is its statement. The
 * statements whose rows are kept come first, because the revision must not be newer than the other rows of a unit of work.
 */
export function toBatches<Lookup extends { readonly statement: Statement }>(lookups: readonly Lookup[]): readonly LookupBatch<Lookup>[] {
  const batches: LookupBatch<Lookup>[] = [];
  const alike = Map.groupBy(lookups, ({ statement }) => statement.sql);
  for (const same of alike.values()) {
    const [first] = same as [Lookup];
    const { statement } = first;
    if (statement.keepsRow) batches.unshift({ statement, lookups: same, toResults: (result) => same.map(() => result) });
    else if (same.length > 1 && statement.parameters.length > 0) batches.push(combine(same));
    else for (const lookup of same) batches.push({ statement: lookup.statement, lookups: [lookup], toResults: (result) => [result] });
  }
  return batches;
}

const NOT_FOUND: QueryResult = Object.freeze({ rows: [], changes: 0 });

function combine<Lookup extends { readonly statement: Statement }>(lookups: readonly Lookup[]): LookupBatch<Lookup> {
  const { sql, parameters } = (lookups[0] as Lookup).statement;
  const arrays = parameters.map((_, index) => toArrayLiteral(lookups.map(({ statement }) => statement.parameters[index])));
  return {
    statement: { sql: toBatchText(sql, parameters.length), parameters: arrays },
    lookups,
    toResults({ rows }) {
      const results = lookups.map(() => NOT_FOUND);
      for (const { [NUMBER]: number, ...row } of rows) results[Number(number) - 1] = { rows: [row], changes: 1 };
      return results;
    },
  };
}

/** The column with the number of the lookup that a row belongs to. Names of fields begin with a letter. */
const NUMBER = '#';
/** Maximum texts that are kept. */
const MAX_TEXTS = 500;
const texts = new Map<string, string>();

/** Matches parameters, and names and literals, which can contain `$1`. */
const PARAMETER = /"[^"]*"|'[^']*'|\$(\d+)/g;

/**
 * Returns the text of the statement for any number of lookups. The limit makes PostgreSQL run the subquery for each of them: with a join it could
 * choose to read the whole table.
 */
function toBatchText(text: string, parameters: number): string {
  if (texts.size >= MAX_TEXTS) texts.clear();
  return getOrCreate(texts, text, () => {
    const numbers = Array.from({ length: parameters }, (_, index) => index + 1);
    const arrays = numbers.map((nth) => `$${nth}::text[]`).join(', ');
    const columns = [...numbers, ''].map((nth) => `"${NUMBER}${nth}"`).join(', ');
    const one = text.replace(PARAMETER, (found, nth: string | undefined) => (nth === undefined ? found : `"#given"."${NUMBER}${nth}"`));
    return `SELECT "#row".*, "#given"."${NUMBER}" FROM unnest(${arrays}) WITH ORDINALITY AS "#given"(${columns})
      CROSS JOIN LATERAL (SELECT * FROM (${one}) AS "#found" LIMIT 1) AS "#row"`;
  });
}
