import type { RuleAction } from '../actions.ts';
import { createScope, type Hypothesis, layOver, OPEN, type Principal } from '../context/index.ts';
import { decidingRule, explain } from '../decision/index.ts';
import { didYouMean, type Issue, Problem } from '../errors.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import { type Applicable, applicableRules, rulesOfPolicy } from '../policy/index.ts';
import type { Resource } from '../resource/index.ts';
import { toSuccess } from '../response/index.ts';
import { loadPolicy, loadRecord, loadReferred } from '../storage/index.ts';
import { toPrincipal } from './decide-ahead.ts';
import type { AdminCall, Endpoint } from './endpoint.ts';
import { readAction, readEnvironment, readMemberObject, readMemberText, readResourceName, toQuestionProblem } from './read-question.ts';
import { paramOf, readBody } from './reading.ts';

/**
 * "What if": the code that decides every request, with the caller's hypothetical context laid over what is stored.
 * Tests leave no access entry and count in no analytics.
 */
export const testEndpoints: readonly Endpoint[] = [
  { method: 'POST', path: '/policies/test-access', handle: testAccess },
  { method: 'POST', path: '/policies/:id/test', handle: testPolicy },
];

async function testAccess(admin: AdminCall): ReturnType<Endpoint['handle']> {
  const test = readTest(admin);
  const { explanation } = await run(admin, test, (asked) => applicableRules(admin.model.policies, asked));
  const { decision, ...why } = explanation;
  const rule = decidingRule(decision);
  const data = {
    allowed: decision.effect !== 'deny',
    reason: decision.reason,
    matchedPolicy: rule === undefined ? null : { id: rule.policy.id, name: rule.policy.name },
    matchedRule: rule?.id ?? null,
    ...(decision.effect === 'allow-where' ? { conditional: true } : {}),
    ...why,
  };
  return { status: 200, body: toSuccess(data) };
}

async function testPolicy(admin: AdminCall): ReturnType<Endpoint['handle']> {
  const policy = await loadPolicy(admin.tx, paramOf(admin.call, 'id'));
  if (policy === undefined) throw new Problem('POLICY_UNKNOWN', 'no policy has this id');
  const test = readTest(admin);
  const parts = { definitions: admin.model.definitions, limits: admin.parts.limits };
  const { explanation } = await run(admin, test, ({ resource, action }) => rulesOfPolicy(policy, parts, { resource, action }));
  const { decision, ...why } = explanation;
  const rule = decidingRule(decision);
  const data = {
    allowed: decision.effect !== 'deny',
    reason: decision.reason,
    evaluation: {
      matched: rule !== undefined,
      effect: decision.effect === 'deny' ? 'DENY' : 'ALLOW',
      policy: { id: policy.id, name: policy.name, type: policy.type },
      ...(decision.effect === 'allow-where' ? { conditional: true } : {}),
    },
    ...why,
  };
  return { status: 200, body: toSuccess(data) };
}

interface AccessTest {
  readonly resource: Resource;
  readonly action: RuleAction;
  readonly recordId: string | undefined;
  readonly userId: string | undefined;
  readonly hypothesis: Hypothesis;
  readonly data: Json | undefined;
}

interface Asked {
  readonly userId: string | undefined;
  readonly role: string;
  readonly resource: string;
  readonly action: RuleAction;
  /** The moment tried out: an assignment that has expired by then does not apply. */
  readonly now: number;
}

async function run(
  admin: AdminCall,
  test: AccessTest,
  rulesFor: (asked: Asked) => Applicable,
): Promise<{ readonly explanation: ReturnType<typeof explain> }> {
  const { tx, model, parts, call } = admin;
  const isOfMany = test.action === 'list' || test.action === 'export';
  const stored = test.recordId === undefined ? undefined : await loadRecord(tx, test.resource, test.recordId);
  const laid = layOver(
    {
      principal: await storedPrincipal(admin, test.userId),
      action: test.action,
      resource: test.resource,
      record: isOfMany && test.recordId === undefined ? OPEN : stored,
      recordId: test.recordId,
      origin: call.origin,
      data: test.data,
      now: tx.now,
      timeZone: parts.timeZone,
      definitions: model.definitions,
    },
    test.hypothesis,
  );
  const who = { userId: laid.principal.id, role: laid.principal.role };
  const applicable = rulesFor({ ...who, resource: test.resource.name, action: test.action, now: laid.now });
  const referred = await loadReferred(tx, model.definitions, { ...laid, paths: applicable.reaches });
  return { explanation: explain(applicable, createScope({ ...laid, referred }), who) };
}

/** The stored user as conditions would see it; a user that is not stored is `anon` until the test says otherwise. */
async function storedPrincipal({ tx, model }: AdminCall, id: string | undefined): Promise<Principal> {
  const record = id === undefined ? undefined : await loadRecord(tx, model.user, id);
  if (record === undefined) return { id, role: 'anon', attributes: {} };
  return toPrincipal(record);
}

/** Reads the test context, every mistake listed. */
function readTest({ call, model }: AdminCall): AccessTest {
  const body = readBody(call, ['user', 'resource', 'action', 'environment', 'data']);
  const issues: Issue[] = [];
  const [user, given, environment] = (['user', 'resource', 'environment'] as const).map((name) => readMemberObject(body, name, issues));
  const resource = readResourceName(given?.['name'], model.definitions, { path: 'resource.name', issues });
  const action = readAction(body['action'], issues);
  const { now, ip } = readEnvironment(environment, issues);
  const userId = readMemberText(user, 'user.id', issues);
  readMemberText(user, 'user.role', issues);
  const recordId = readMemberText(given, 'resource.id', issues);
  checkAttributes(given, resource, issues);
  if (issues.length > 0 || resource === undefined || action === undefined) throw toQuestionProblem(issues, 'the test context');
  const hasAttributes = given !== undefined && Object.keys(given).some((name) => name !== 'name');
  return {
    resource,
    action,
    recordId,
    userId,
    data: body['data'],
    hypothesis: { user, resource: hasAttributes ? given : undefined, now, ip },
  };
}

/** A mistyped attribute would try out something else than was meant. Secret fields are none: no condition reads them. */
function checkAttributes(given: JsonObject | undefined, resource: Resource | undefined, issues: Issue[]): void {
  if (given === undefined || resource === undefined) return;
  const known = ['name', ...[...resource.fields.values()].filter((field) => !field.writeOnly).map((field) => field.name)];
  for (const attribute of Object.keys(given)) {
    if (known.includes(attribute)) continue;
    const name = attribute.slice(0, 64);
    issues.push({ path: `resource.${name}`, code: 'field', detail: `${resource.name} has no field "${name}"${didYouMean(name, known)}` });
  }
}
