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
  {
    name: 'each transaction that needs the policies of a role loads them itself',
    file: 'src/authz/revisioned-database.ts',
    find: 'options?.longRunning || !store.mayLackRoles()',
    replace: 'true',
    red: 'src/authz/role-policies.test.ts',
    test: 'a transaction that needs the policies of a role runs again after the policies are loaded, once for all that wait',
  },
  {
    name: 'one request more than the maximum waits for the policies of a role',
    file: 'src/authz/role-loading.ts',
    find: 'if (waiting >= MAX_WAITING)',
    replace: 'if (waiting > MAX_WAITING)',
    red: 'src/authz/role-policies.test.ts',
    test: 'a transaction that needs the policies of a role refuses the request if too many wait',
  },
  {
    name: 'a transaction fails with an internal error if policies change each time while they are loaded',
    file: 'src/authz/revisioned-database.ts',
    find: 'if (!(error instanceof RolesNeeded)) throw error;',
    replace: 'if (!(error instanceof RolesNeeded) || loads === MAX_LOADS) throw error;',
    red: 'src/authz/role-policies.test.ts',
    test: 'a transaction that needs the policies of a role refuses the request if the policies change each time while they are loaded',
  },
];
