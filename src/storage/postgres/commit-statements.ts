import { renderSql, type Sql, sql } from '../../sql.ts';
import type { Query, Statement } from '../contract.ts';
import { isEmptySet, type ReadWriteSet } from '../read-write-set.ts';
import { toCommitValidation, toWriteMarks } from './commit-validation.ts';
import { type DeferredWrite, mayWait, RESTORE_WAIT, toDeferredStatements } from './deferred-writes.ts';
import { type CheckOptions, toRelationChecks } from './relation-checks.ts';

/** Maximum insertions in the statement of commit validation. Each number of insertions is another text to prepare. */
const MAX_COMBINED = 3;

/** The deferred writes of a commit, and how its sets are validated. */
interface CommitOptions extends CheckOptions {
  readonly deferred: readonly DeferredWrite[];
}

/**
 * Returns the statements between the unit of work and COMMIT: the insertions of its rows, deferred writes, commit validation, the checks of
 * relations, and the marks of writes.
 * Without deferred writes, the insertions and commit validation are one statement, because each message has a cost of its own. The insertions come first: the
 * locks of commit validation are the last ones of a transaction.
 */
export function toCommitStatements(
  insertions: readonly Query[],
  sets: readonly ReadWriteSet[],
  { deferred, ...options }: CommitOptions,
): readonly Query[] {
  // The insertions come first: if an earlier attempt was committed, they fail, and no write is done twice.
  const writes = toDeferredStatements(deferred);
  if (sets.every(isEmptySet)) return [...insertions, ...writes];
  const validation = mayWait(deferred) ? restoringWait(toCommitValidation(sets)) : toCommitValidation(sets);
  const checks = [...toRelationChecks(sets, options), ...toWriteMarks(sets)];
  const isCombined = writes.length === 0 && insertions.length > 0 && insertions.length <= MAX_COMBINED && insertions.every(isInsertion);
  return isCombined ? [combine(insertions, validation), ...checks] : [...insertions, ...writes, validation, ...checks];
}

/** Restores the limit of the waits for locks first: commit validation may wait longer than deferred writes. */
function restoringWait(validation: Statement): Statement {
  return { ...validation, sql: `${validation.sql} FROM ${RESTORE_WAIT}` };
}

const INSERT = /^\s*INSERT\b/i;

/** Returns true for an insertion whose placeholders are not rendered yet. */
function isInsertion(query: Query): query is Sql {
  return !('parameters' in query) && INSERT.test(query.texts[0] ?? '');
}

/** The WHERE clause counts the inserted rows, so that PostgreSQL inserts them before it validates: without it, the order is not defined. */
function combine(insertions: readonly Sql[], validation: Statement): Statement {
  const names = insertions.map((_, index) => sql.raw(`"rows${index}"`));
  const inserted = insertions.map((insertion, index) => sql`${names[index]} AS (${insertion} RETURNING 1)`);
  const counts = names.map((name) => sql`(SELECT count(*) FROM ${name})`);
  const first = validation.parameters.length;
  const rows = renderSql(sql.join(inserted), (nth) => `$${first + nth}`);
  const counted = renderSql(sql.join(counts, sql` + `), String);
  return {
    sql: `WITH ${rows.sql} ${validation.sql} WHERE ${counted.sql} >= 0`,
    parameters: [...validation.parameters, ...rows.parameters],
  };
}
