import { Problem } from '../errors.ts';
import type { RequestContext } from './request-context.ts';

/**
 * Refuses a request that has decided on or written many records in one turn of the event loop of SQLite: all other requests wait for it. On
 * PostgreSQL, and in a long attempt, they do not.
 *
 * Call it between two records. A request with one record is never refused.
 *
 * @throws Problem REQUEST_BUDGET
 */
export function requireWriteTime({ tx, budget }: Pick<RequestContext, 'tx' | 'budget'>): void {
  const { writeMilliseconds = Number.POSITIVE_INFINITY } = budget.limits;
  if (tx.dialect.name !== 'sqlite' || tx.attempt === 'long' || budget.writeTime() <= writeMilliseconds) return;
  throw new Problem('REQUEST_BUDGET', `the request takes more than the ${writeMilliseconds} ms (writeMilliseconds) that it may write`, {
    hint: 'change fewer records in a request; an import that is not atomic can have any length',
  });
}
