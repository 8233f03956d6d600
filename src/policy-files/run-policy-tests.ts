/** Runs policy tests on a database in memory. Every case is decided by the simulation that the admin API uses, with the same `decide`. */
import { type SimulationContext, simulateAccess } from '../api/index.ts';
import { createPolicyStore, type PolicyStore, type Snapshot, withRevisions } from '../authz/index.ts';
import { applicableRules, type Policy, type PolicyImport, type PolicyLimits, toUserAssignmentChange } from '../authz/policies/index.ts';
import type { RequestOrigin } from '../request/index.ts';
import type { Definitions } from '../resources/index.ts';
import { type Database, importPolicies, insertRecord, listPolicies, migrate, openSqlite, type Transaction } from '../storage/index.ts';
import type { CaseResult, FileResult, PolicyTestCase, PolicyTestFile, TestRun, UntestedRule } from './policy-test.ts';
import { toTestId } from './test-ids.ts';

/** The policies under test, and the configuration that decides with them. */
export interface PolicyTestOptions {
  readonly definitions: Definitions;
  readonly policies: readonly PolicyImport[];
  readonly limits: PolicyLimits;
  /** IANA name of the time zone of conditions. */
  readonly timeZone: string;
}

/** The author of policies and records in the database of a test. */
const AUTHOR = 'policies test';

const ORIGIN: RequestOrigin = { requestId: AUTHOR, method: '', path: '', ip: '127.0.0.1' };

/** Runs every case of the files. Each file has a database of its own. */
export async function runPolicyTests(files: readonly PolicyTestFile[], options: PolicyTestOptions): Promise<TestRun> {
  const decided = new Set<string>();
  const results: FileResult[] = [];
  for (const file of files) results.push(await runFile(file, options, decided));
  const all = results.flatMap((each) => each.results);
  const rules = options.policies.flatMap(({ policy }) => namedRules(policy));
  return {
    files: results,
    cases: all.length,
    failed: all.filter(({ passed }) => !passed).length,
    rules: rules.length,
    untested: rules.filter((rule) => !decided.has(keyOf(rule))),
  };
}

/** Returns the active rules of an active policy by the names that results show. */
function namedRules({ name, isActive, rules }: PolicyImport['policy']): readonly UntestedRule[] {
  if (!isActive) return [];
  return rules
    .filter((rule) => rule.isActive)
    .map((rule) => ({ policy: name, rule: rule.description ?? `${rule.action} ${rule.resource}` }));
}

function keyOf({ policy, rule }: UntestedRule): string {
  return JSON.stringify([policy, rule]);
}

async function runFile(file: PolicyTestFile, options: PolicyTestOptions, decided: Set<string>): Promise<FileResult> {
  const begun = performance.now();
  const database = openSqlite({ path: ':memory:' });
  try {
    const store = createPolicyStore(options.definitions, { ...options.limits, maxAssignments: MAX_ASSIGNMENTS });
    await migrate(database, options.definitions, { holder: store });
    await database.transaction((tx) => fill(tx, file, options), UNLIMITED);
    const results = await decideAll(database, { store, file, options, decided });
    const names = new Map(file.fixtures.map(({ id, name }) => [id, name]));
    return { file: file.file, results, names, milliseconds: performance.now() - begun };
  } finally {
    await database.close();
  }
}

const MAX_ASSIGNMENTS = 10_000;
/** No request waits for these transactions. */
const UNLIMITED = { longRunning: true };

/** Stores the users and records of a file, and the policies with their assignments. */
async function fill(tx: Transaction, { fixtures, assignments }: PolicyTestFile, { policies }: PolicyTestOptions): Promise<void> {
  const at = new Date(tx.now).toISOString();
  for (const { resource, id, values } of fixtures)
    await insertRecord(tx, resource, { createdAt: at, updatedAt: at, ...values, id, version: 1 });
  const usersOf = (name: string) => [...assignments].flatMap(([userId, names]) => (names.includes(name) ? [toTestId('User', userId)] : []));
  const imports = policies.map((each) => ({
    ...each,
    users: usersOf(each.policy.name).map((userId) => ({ userId, ...toUserAssignmentChange({}) })),
  }));
  await importPolicies(tx, imports, { by: AUTHOR });
}

interface FileRun {
  readonly store: PolicyStore;
  readonly file: PolicyTestFile;
  readonly options: PolicyTestOptions;
  /** Receives the keys of the rules that decided a case. */
  readonly decided: Set<string>;
}

function decideAll(database: Database, { store, file, options, decided }: FileRun): Promise<readonly CaseResult[]> {
  const nothing = async (): Promise<undefined> => undefined;
  return withRevisions(database, store).transactionAtRevision(
    nothing,
    async ({ tx, snapshot }) => {
      const context = { tx, snapshot, deps: { timeZone: options.timeZone }, request: { origin: ORIGIN } };
      const names = new Map((await listPolicies(tx)).flatMap(toRuleKeys));
      const results: CaseResult[] = [];
      for (const each of file.cases) {
        const result = await decideCase(context, each);
        const fired = result.explanation.trace.find((rule) => rule.fired)?.rule.id;
        decided.add(names.get(fired ?? '') ?? '');
        results.push(result);
      }
      return results;
    },
    UNLIMITED,
  );
}

/** Returns the keys of the rules of a stored policy, by rule id. */
function toRuleKeys({ name, rules }: Policy): readonly (readonly [string, string])[] {
  return rules.map((rule) => [rule.id, keyOf({ policy: name, rule: rule.description ?? `${rule.action} ${rule.resource}` })]);
}

async function decideCase(context: SimulationContext, each: PolicyTestCase): Promise<CaseResult> {
  const { resource, decides: action, record, user, data, now, ip, expected, reason } = each;
  const recordId = record === undefined ? undefined : toTestId(resource.name, record);
  const userId = user === undefined ? undefined : toTestId('User', user);
  const hypothesis = { user: undefined, resource: undefined, now, ip };
  const rulesFor = rulesIn(context.snapshot, context.tx);
  const { explanation, issues } = await simulateAccess(context, { resource, action, recordId, userId, hypothesis, data }, rulesFor);
  const { decision } = explanation;
  const effect = decision.effect === 'deny' ? 'DENY' : 'ALLOW';
  const hasReason = reason === undefined || decision.reason.includes(reason);
  const rejected = issues.map(({ path, detail }) => `${path}: ${detail}`);
  return { case: each, passed: effect === expected && hasReason && rejected.length === 0, effect, explanation, rejected };
}

/** Returns the rules that apply to a request, as the admin API selects them. */
function rulesIn({ policies, assignments }: Snapshot, tx: Transaction): Parameters<typeof simulateAccess>[2] {
  return async ({ userId, ...query }) => applicableRules(policies, { ...query, assignments: await assignments.of(tx, userId) });
}
