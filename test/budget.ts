/** The numbers of random cases and rounds: few in `npm test`, many in `npm run test:deep`. */
import { onPostgres } from './postgres/test-database.ts';

/** True in `npm run test:deep`. */
export const isDeep: boolean = process.env['TEST_BUDGET'] === 'deep';

/** The factor by which `npm run test:deep` runs more cases. */
const DEEP = 20;

/** Returns the number of cases to run, given the number that finds the mutations of test/long in `npm test`. */
export function casesOf(count: number): number {
  return isDeep ? count * DEEP : count;
}

/** Returns the number of cases that use a database: a tenth on PostgreSQL, where each takes many times as long. */
export function databaseCasesOf(count: number): number {
  return Math.ceil(casesOf(count) / (onPostgres ? 10 : 1));
}
