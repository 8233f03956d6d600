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
];
