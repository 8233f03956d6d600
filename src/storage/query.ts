import { compose, type Sql } from '../sql/index.ts';
import type { Statement } from './database.ts';

/** What can be asked of a transaction: a text with its values, or a template that is one once it is put together. */
export type Query = Sql | Statement;

/**
 * Makes queries texts with values.
 *
 * @param placeholder What stands for the nth value, counted from 1.
 */
export function createStatements(placeholder: (nth: number) => string): (query: Query) => Statement {
  return (query) => ('parameters' in query ? query : compose(query, placeholder));
}
