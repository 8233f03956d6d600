/** Runs policy tests on a database in memory. Every case is decided by the simulation that the admin API uses, with the same `decide`. */
import { SELECTS_RECORDS } from '../actions.ts';
import { simulateAccess } from '../api/index.ts';
import type { Snapshot } from '../authz/index.ts';
import { applicableRules, type Policy, type PolicyImport, type PolicyRule } from '../authz/policies/index.ts';
import { createRelatedStore, insertRecord, listPolicies, type Transaction } from '../storage/index.ts';
import { decideList, type TestContext } from './decide-list.ts';
import { type PolicyProject, withPolicyDatabase } from './policy-database.ts';
import type { CaseResult, FileResult, PolicyTestCase, PolicyTestFile, TestRun, UntestedRule } from './policy-test.ts';
import { describeCase } from './print-tests.ts';
import { toTestId } from './test-ids.ts';
import { toTestOrigin } from './test-origin.ts';

/** Runs every case of the files. Each file has a database of its own. */
export async function runPolicyTests(files: readonly PolicyTestFile[], project: PolicyProject): Promise<TestRun> {
  const decided = new Set<string>();
  const results: FileResult[] = [];
  for (const file of files) results.push(await runFile(file, project, decided));
  const all = results.flatMap((each) => each.results);
  const rules = project.policies.flatMap(({ policy }) => activeRules(policy));
  return {
    files: results,
    cases: all.length,
    failed: all.filter(({ passed }) => !passed).length,
    rules: rules.length,
    untested: rules.filter(({ key }) => !decided.has(key)).map(({ named }) => named),
  };
}

/** A rule by the names that results show, and its key. */
interface NamedRule {
  readonly named: UntestedRule;
  readonly key: string;
}

/** Returns the active rules of an active policy. */
function activeRules({ name, isActive, rules }: PolicyImport['policy']): readonly NamedRule[] {
  if (!isActive) return [];
  return rules.flatMap((rule, position) => (rule.isActive ? [{ named: toNamedRule(name, rule), key: keyOf(name, position) }] : []));
}

function toNamedRule(
  policy: string,
  { description, action, resource }: Pick<PolicyRule, 'description' | 'action' | 'resource'>,
): UntestedRule {
  return { policy, rule: description ?? `${action} ${resource}`, action, resource };
}

/** Returns the identity of a rule: its position in its policy, because rules may have the same description, action and resource. */
function keyOf(policy: string, position: number): string {
  return JSON.stringify([policy, position]);
}

/** Runs the cases of a file, and adds the keys of the rules that decided one to `decided`. */
async function runFile(file: PolicyTestFile, project: PolicyProject, decided: Set<string>): Promise<FileResult> {
  const begun = performance.now();
  const usersOf = (policy: string) =>
    [...file.assignments].flatMap(([user, names]) => (names.includes(policy) ? [toTestId('User', user)] : []));
  const content = { usersOf, fill: (tx: Transaction) => insertFixtures(tx, file) };
  const names = new Map(file.fixtures.map(({ id, name }) => [id, name]));
  const results = await withPolicyDatabase(project, content, async ({ tx, snapshot }) => {
    const related = createRelatedStore(tx, project.definitions);
    const context = { tx, snapshot, deps: { timeZone: project.timeZone }, related };
    const keys = new Map((await listPolicies(tx)).flatMap(toRuleKeys));
    const found: CaseResult[] = [];
    for (const each of file.cases) {
      const { fired, ...result } = await (each.shows === undefined ? decideCase(context, each) : decideListCase(context, each, names));
      for (const id of fired) decided.add(keys.get(id) ?? '');
      found.push(result);
    }
    return found;
  });
  return { file: file.file, results, names, milliseconds: performance.now() - begun };
}

async function insertFixtures(tx: Transaction, { fixtures, now = tx.now }: PolicyTestFile): Promise<void> {
  const at = new Date(now).toISOString();
  for (const { resource, id, values } of fixtures)
    await insertRecord(tx, resource, { createdAt: at, updatedAt: at, ...values, id, version: 1 });
}

/** Returns the keys of the rules of a stored policy, by rule id. */
function toRuleKeys({ name, rules }: Policy): readonly (readonly [string, string])[] {
  return rules.map(({ id }, position) => [id, keyOf(name, position)]);
}

/** A decided case, and the ids of the rules that decided it. */
interface DecidedCase extends CaseResult {
  readonly fired: readonly string[];
}

async function decideCase(context: TestContext, each: PolicyTestCase): Promise<DecidedCase> {
  const { resource, decides: action, record, user, data, now, expected, reason } = each;
  const recordId = record === undefined ? undefined : toTestId(resource.name, record);
  const userId = user === undefined ? undefined : toTestId('User', user);
  const hypothesis = { user: undefined, resource: undefined, now };
  const rulesFor = rulesIn(context.snapshot, context.tx);
  const { explanation, decisions, issues } = await simulateAccess(
    { ...context, origin: toTestOrigin(each) },
    { resource, action, recordId, isRestore: each.action === 'restore', isOriginKnown: true, userId, hypothesis, data },
    rulesFor,
  );
  const { decision } = explanation;
  const isOfMany = recordId === undefined && SELECTS_RECORDS.has(action);
  if (decision.effect === 'allow-where' && !isOfMany)
    throw new TypeError(`the decision of ${describeCase(each)} depends on an unknown value`);
  const effect = decision.effect === 'deny' ? 'DENY' : 'ALLOW';
  const hasReason = reason === undefined || decision.reason.includes(reason);
  const rejected = issues.map(({ path, detail }) => `${path}: ${detail}`);
  const fired = decisions.flatMap(({ trace }) => trace.find((rule) => rule.fired)?.rule.id ?? []);
  const passed = effect === expected && hasReason && rejected.length === 0;
  return { case: each, passed, effect, explanation, rejected, fired };
}

/** Maximum number of listed records whose rules count as tested. */
const MAX_EXPLAINED = 20;

/**
 * Decides a list. Up to `MAX_EXPLAINED` of its records are also decided one by one, which gives the rules that decide them. If the list is not as
 * expected, the result has the explanation of the first record that is missing or should not be listed.
 */
async function decideListCase(context: TestContext, each: PolicyTestCase, allNames: ReadonlyMap<string, string>): Promise<DecidedCase> {
  const { resource, expected, shows = [] } = each;
  const names = new Map([...allNames].filter(([id, name]) => id === toTestId(resource.name, name)));
  const { isDenied, shown, mismatch } = await decideList(context, each, names);
  const explained = [...(mismatch?.missing ?? []), ...(mismatch?.unexpected ?? []), ...shown].slice(0, MAX_EXPLAINED);
  const decisions: DecidedCase[] = [];
  for (const record of explained) decisions.push(await decideCase(context, { ...each, record }));
  const first = mismatch === undefined || decisions[0] === undefined ? await decideCase(context, each) : decisions[0];
  // A list that must show no record may be refused as well.
  const passed = mismatch === undefined && (expected === 'DENY' ? isDenied : !isDenied || shows.length === 0);
  const effect = isDenied ? 'DENY' : 'ALLOW';
  const fired = [...first.fired, ...decisions.flatMap((decision) => decision.fired)];
  return { case: each, passed, effect, list: mismatch, explanation: first.explanation, rejected: [], fired };
}

/** Returns the rules that apply to a request, as the admin API selects them. */
function rulesIn({ policies, assignments }: Snapshot, tx: Transaction): Parameters<typeof simulateAccess>[2] {
  return async ({ userId, ...query }) => applicableRules(policies, { ...query, assignments: await assignments.of(tx, userId) });
}
