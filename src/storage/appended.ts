import type { Appender, Appending, Asked } from './database.ts';

/** Rows that a work adds, and how. */
export interface Appended {
  readonly appending: Appending<unknown>;
  readonly rows: readonly unknown[];
}

/** What has to be asked for all of them to be written: those that are written in one way at once. */
export async function statementsOf(appender: Appender, appended: readonly Appended[]): Promise<readonly Asked[]> {
  const statements: Asked[] = [];
  for (const [appending, same] of Map.groupBy(appended, (one) => one.appending)) {
    const said = appending.write(
      appender,
      same.flatMap(({ rows }) => rows),
    );
    statements.push(...(said instanceof Promise ? await said : said));
  }
  return statements;
}

/** What finds the first of them; undefined where there are none. */
export function findingOf([first]: readonly Appended[]): Asked | undefined {
  return first?.appending.find(first.rows[0]);
}
