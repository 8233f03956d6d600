/**
 * SQL put together: text that the program has, and values that are bound, which never become text.
 *
 * It knows neither tables nor databases, and runs nothing.
 */
export { compose, type Sql, sql, toLiteral } from './sql.ts';
