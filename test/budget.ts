/** The numbers of random cases and rounds: few in `npm test`, many in `npm run test:deep`. */
import { onPostgres } from './postgres/test-database.ts';

/** True in `npm run test:deep`. */
export const isDeep: boolean = process.env['TEST_BUDGET'] === 'deep';

/** The factor by which `npm run test:deep` runs more cases. */
const DEEP = 20;

/** Budgets that differ from the default. */
interface Budget {
  /** The number of cases in `npm test` on PostgreSQL, where a case takes many times as long. */
  readonly postgres?: number;
}

/** Returns the number of cases to run, given the number that finds the mutations of test/long in `npm test`. */
export function casesOf(count: number, { postgres = count }: Budget = {}): number {
  if (isDeep) return count * DEEP;
  return onPostgres ? postgres : count;
}

/** Returns the number of cases that use a database: by default a tenth on PostgreSQL. */
export function databaseCasesOf(count: number, { postgres = Math.ceil(count / 10) }: Budget = {}): number {
  return isDeep && onPostgres ? Math.ceil(casesOf(count) / 10) : casesOf(count, { postgres });
}
