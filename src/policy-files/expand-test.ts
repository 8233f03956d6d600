import { ACTIONS, type ActionName, CREATES_RECORD, DECIDED_ON_RECORD } from '../actions.ts';
import { toRuleAction } from '../api/index.ts';
import { didYouMean } from '../errors.ts';
import { parseInstant } from '../operators/index.ts';
import { type Definitions, ordinaryResources, type Resource, suggestResource } from '../resources/index.ts';
import type { PolicyTestCase } from './policy-test.ts';
import { ANONYMOUS, type WrittenTest } from './policy-test-schema.ts';
import type { Reporter } from './reporter.ts';
import { toTestId } from './test-ids.ts';
import { type NamedRecords, resolveData } from './test-values.ts';

/** A test as written, and the names that it may use. */
export interface TestToExpand {
  readonly test: WrittenTest;
  /** The position of the test in the file. */
  readonly path: readonly (string | number)[];
  /** The time of the file, in milliseconds since 1970. */
  readonly now: number | undefined;
  readonly named: NamedRecords;
  /** The ids of the records with a value of `deletedAt`. */
  readonly deleted: ReadonlySet<string>;
  readonly definitions: Definitions;
  /** The names of resources whose definitions have mistakes. Tests of them have no cases. */
  readonly incomplete: ReadonlySet<string>;
}

/** Returns the cases of a test: one for each user, action and record of a matrix, or one for each user of a request or a list. */
export function expandTest(written: TestToExpand, reporter: Reporter): readonly PolicyTestCase[] {
  const { test, path, definitions, incomplete } = written;
  const resource = ordinaryResources(definitions).find(({ name }) => name === test.resource);
  if (resource === undefined) {
    if (!incomplete.has(test.resource))
      reporter.report([...path, 'resource'], `no resource is named "${test.resource}"${suggestResource(definitions, test.resource)}`);
    return [];
  }
  const recordNames = [...(written.named.get(resource.name) ?? [])];
  const named = { ...written, resource, recordNames, users: [...(written.named.get('User') ?? []), ANONYMOUS] };
  const [form, ...others] = (['allow', 'expect', 'list'] as const).filter((member) => test[member] !== undefined);
  if (form === undefined || others.length > 0) {
    const forms = '"allow", for a matrix of users, actions and records, "expect", for one request, or "list", for lists';
    reporter.report(path, `expected one of ${forms}`);
    return [];
  }
  const mistakes = reporter.mistakes.length;
  const cases = EXPANSIONS[form](named, reporter);
  // A test without cases passes without a decision.
  if (cases.length === 0 && reporter.mistakes.length === mistakes) reporter.report(path, `the test has no case: expected ${NEEDED[form]}`);
  return cases;
}

/** The members of a test that produce its cases, as the mistake of a test without cases names them. */
const NEEDED = { allow: 'users, actions and records', expect: 'users in "expect"', list: 'users in "list"' } as const;

interface NamedTest extends TestToExpand {
  readonly resource: Resource;
  /** The names of the records of the resource. */
  readonly recordNames: readonly string[];
  /** The names of the users, and `anon`. */
  readonly users: readonly string[];
}

function expandRequest(named: NamedTest, reporter: Reporter): readonly PolicyTestCase[] {
  const { test, path, users, recordNames } = named;
  refuseMembers(named, ['users', 'records', 'actions'], reporter);
  const { action, record, expect = {}, data, reason } = test;
  if (action === undefined) {
    reporter.report(path, 'expected "action"');
    return [];
  }
  if (record !== undefined)
    requireKnown([record], { known: recordNames, path: [...path, 'record'], word: named.resource.name, at: 'value' }, reporter);
  requireKnown(Object.keys(expect), { known: users, path: [...path, 'expect'], word: 'user', at: 'keys' }, reporter);
  if (record === undefined && DECIDED_ON_RECORD.has(toRuleAction(action)))
    reporter.report(path, `expected "record": ${action} is decided on a record`);
  if (action === 'restore' && record !== undefined && recordNames.includes(record) && !isDeleted(named, record))
    reporter.report([...path, 'record'], 'expected a deleted record, with a value of deletedAt: restore is decided on it');
  const resolve = { resource: named.resource, path: [...path, 'data'], named: named.named };
  const given = data === undefined ? undefined : resolveData({ ...resolve, values: data }, reporter);
  return Object.entries(expect).map(([user, expected]) => ({ ...toCase(named, user, action), record, data: given, expected, reason }));
}

function expandMatrix(named: NamedTest, reporter: Reporter): readonly PolicyTestCase[] {
  const { test, path, recordNames } = named;
  refuseMembers(named, ['action', 'record', 'data', 'expect', 'reason'], reporter);
  const { allow = {}, users = named.users, records = recordNames } = test;
  requireKnown(users, { known: named.users, path: [...path, 'users'], word: 'user' }, reporter);
  requireKnown(records, { known: recordNames, path: [...path, 'records'], word: named.resource.name }, reporter);
  requireKnown(Object.keys(allow), { known: users, path: [...path, 'allow'], word: 'user of the matrix', at: 'keys' }, reporter);
  const allowed = [...new Set(Object.values(allow).flatMap((byAction) => Object.keys(byAction)))];
  const actions = test.actions ?? allowed.filter(isMatrixAction);
  for (const [user, byAction] of Object.entries(allow)) {
    requireKnown(
      Object.keys(byAction),
      { known: actions, path: [...path, 'allow', user], word: 'action of the matrix', at: 'keys' },
      reporter,
    );
    for (const [action, those] of Object.entries(byAction))
      if (those !== 'all')
        requireKnown(those, { known: records, path: [...path, 'allow', user, action], word: 'record of the matrix' }, reporter);
  }
  if (actions.some((action) => !isMatrixAction(action)))
    reporter.report([...path, 'actions'], 'expected actions on stored records; test a create or an import with "action" and "data"');
  const present = actions.includes('restore') ? records.find((name) => recordNames.includes(name) && !isDeleted(named, name)) : undefined;
  if (present !== undefined)
    reporter.report(
      path,
      `expected deleted records, with a value of deletedAt: restore is decided on them, and "${present}" is not deleted`,
    );
  return users.flatMap((user) =>
    actions.flatMap((action) =>
      records.map((record) => {
        const those = allow[user]?.[action] ?? [];
        const expected = those === 'all' || those.includes(record) ? ('ALLOW' as const) : ('DENY' as const);
        return { ...toCase(named, user, action), record, data: undefined, expected, reason: undefined };
      }),
    ),
  );
}

function expandLists(named: NamedTest, reporter: Reporter): readonly PolicyTestCase[] {
  const { test, path, users, recordNames } = named;
  refuseMembers(named, ['users', 'records', 'actions', 'action', 'record', 'data', 'reason'], reporter);
  const { list = {} } = test;
  requireKnown(Object.keys(list), { known: users, path: [...path, 'list'], word: 'user', at: 'keys' }, reporter);
  return Object.entries(list).map(([user, shown]) => {
    const request = { ...toCase(named, user, 'list'), record: undefined, data: undefined, reason: undefined };
    if (shown === 'DENY') return { ...request, expected: 'DENY' as const, shows: [] };
    requireKnown(shown, { known: recordNames, path: [...path, 'list', user], word: named.resource.name }, reporter);
    return { ...request, expected: 'ALLOW' as const, shows: shown };
  });
}

const EXPANSIONS = { allow: expandMatrix, expect: expandRequest, list: expandLists } as const;

function isMatrixAction(name: string): name is ActionName {
  const decides = ACTIONS.get(name as ActionName)?.decides;
  return decides !== undefined && !CREATES_RECORD.has(decides);
}

function isDeleted({ resource, deleted }: NamedTest, record: string): boolean {
  return deleted.has(toTestId(resource.name, record));
}

function toCase({ test, resource, now }: NamedTest, user: string, action: ActionName) {
  const { timestamp, ip, method, path } = test.environment ?? {};
  return {
    test: test.name,
    user: user === ANONYMOUS ? undefined : user,
    resource,
    action,
    decides: toRuleAction(action),
    now: timestamp === undefined ? now : parseInstant(timestamp),
    ip,
    method,
    path,
  };
}

function refuseMembers({ test, path }: NamedTest, members: readonly (keyof WrittenTest)[], { report }: Reporter): void {
  const form = test.list !== undefined ? '"list"' : test.allow === undefined ? '"expect"' : '"allow"';
  for (const member of members)
    if (test[member] !== undefined) report([...path, member], `unknown member "${member}" of a test with ${form}`, 'key');
}

interface Known {
  readonly known: readonly string[];
  readonly path: readonly (string | number)[];
  /** The word for a name in a mistake. */
  readonly word: string;
  /** The place of the names at the path: the items of a list (by default), the keys of an object, or one value. */
  readonly at?: 'items' | 'keys' | 'value';
}

function requireKnown(names: readonly string[], { known, path, word, at = 'items' }: Known, { report }: Reporter): void {
  for (const [index, name] of names.entries()) {
    if (known.includes(name)) continue;
    const member = { items: [index], keys: [name], value: [] }[at];
    report([...path, ...member], `no ${word} is named "${name}"${didYouMean(name, known)}`, at === 'keys' ? 'key' : 'value');
  }
}
