import type { Mutation } from './mutation.ts';

/** Mutations of the limits of requests: how long they write, and what callers without a token may use. */
export const MUTATIONS_OF_LIMITS: readonly Mutation[] = [
  {
    name: 'a request that decides on many records writes without a time limit',
    file: 'src/pipeline/steps/decide-request.ts',
    find: '  requireWriteTime(context);\n  return decision;',
    replace: '  return decision;',
    red: 'src/transfer/write-time.test.ts',
    test: 'an atomic import that takes longer names the row, stores nothing and has an audit entry',
  },
  {
    name: 'callers without a token have the limits of users',
    file: 'src/pipeline/answer-budget.ts',
    find: 'userId === undefined ? partOf(budget, anonymousBudget) : budget',
    replace: 'budget',
    red: 'test/attack/budgets.test.ts',
    test: 'callers without a token have a part of the rows',
  },
  {
    name: 'each address without a token has a share of the queue of its own',
    file: 'src/storage/anonymous-share.ts',
    find: 'caller.startsWith(ANONYMOUS) ?',
    replace: "caller === '' ?",
    red: 'src/storage/anonymous-share.test.ts',
    test: 'the share leaves half of the queue to users, however many networks fill the other half',
  },
  {
    name: 'an attempt whose time is up commits if its unit of work has caught the error',
    file: 'src/storage/sqlite/commit-batching.ts',
    find: '  if (ended !== undefined) outcome = { error: ended };\n',
    replace: '',
    red: 'test/property/time-limits.property.test.ts',
    test: 'a create whose time is up at any check succeeds as a whole, or fails and changes nothing',
  },
  {
    name: 'an export that fails does not name its audit entry',
    file: 'src/transfer/export-job.ts',
    find: 'throw toNamedProblem(page)',
    replace: 'throw page.problem',
    red: 'test/property/time-limits.property.test.ts',
    test: 'an export whose time is up at any check succeeds as a whole, or fails and changes nothing',
  },
];
