import { isIP } from 'node:net';
import { ACTIONS, RULE_ACTIONS, type RuleAction } from '../actions.ts';
import { createScope, type Hypothesis, layOver, OPEN, type Principal } from '../context/index.ts';
import { explain } from '../decision/index.ts';
import { didYouMean, type Issue, Problem } from '../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, readInstant } from '../operators/index.ts';
import { type Applicable, applicableRules, rulesOfPolicy } from '../policy/index.ts';
import type { Resource } from '../resource/index.ts';
import { toSuccess } from '../response/index.ts';
import { loadPolicy, loadRecord, loadReferred } from '../storage/index.ts';
import type { AdminCall, Endpoint } from './endpoint.ts';
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
  const { decision, trace, wouldAllow } = explanation;
  const rule = decision.effect === 'allow-where' ? decision.rules[0] : decision.rule;
  const data = {
    allowed: decision.effect !== 'deny',
    reason: decision.reason,
    matchedPolicy: rule === undefined ? null : { id: rule.policy.id, name: rule.policy.name },
    matchedRule: rule?.id ?? null,
    ...(decision.effect === 'allow-where' ? { conditional: true } : {}),
    trace,
    ...(decision.effect === 'deny' ? { wouldAllow } : {}),
  };
  return { status: 200, body: toSuccess(data) };
}

async function testPolicy(admin: AdminCall): ReturnType<Endpoint['handle']> {
  const policy = await loadPolicy(admin.tx, paramOf(admin.call, 'id'));
  if (policy === undefined) throw new Problem('POLICY_UNKNOWN', 'no policy has this id');
  const test = readTest(admin);
  const parts = { definitions: admin.model.definitions, limits: admin.parts.limits };
  const { explanation } = await run(admin, test, ({ resource, action }) => rulesOfPolicy(policy, parts, { resource, action }));
  const { decision, trace, wouldAllow } = explanation;
  const rule = decision.effect === 'allow-where' ? decision.rules[0] : decision.rule;
  const data = {
    allowed: decision.effect !== 'deny',
    reason: decision.reason,
    evaluation: {
      matched: rule !== undefined,
      effect: decision.effect === 'deny' ? 'DENY' : 'ALLOW',
      policy: { id: policy.id, name: policy.name, type: policy.type },
      ...(decision.effect === 'allow-where' ? { conditional: true } : {}),
    },
    trace,
    ...(decision.effect === 'deny' ? { wouldAllow } : {}),
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
  // A record is loaded without its secret fields.
  return { id, role: String(record['role']), attributes: record };
}

/** Reads the test context, every mistake listed. */
function readTest({ call, model }: AdminCall): AccessTest {
  const body = readBody(call, ['user', 'resource', 'action', 'environment', 'data']);
  const issues: Issue[] = [];
  const [user, given, environment] = (['user', 'resource', 'environment'] as const).map((name) => memberObject(body, name, issues));
  const resource = readResource(given, model.definitions, issues);
  const name = typeof body['action'] === 'string' ? body['action'] : '';
  const action = ACTIONS.get(name)?.decides;
  if (action === undefined)
    issues.push({ path: 'action', code: 'action', detail: `expected one of ${RULE_ACTIONS.join(', ')}${didYouMean(name, RULE_ACTIONS)}` });
  const { now, ip } = readEnvironment(environment, issues);
  const userId = readText(user, 'user.id', issues);
  readText(user, 'user.role', issues);
  const recordId = readText(given, 'resource.id', issues);
  checkAttributes(given, resource, issues);
  if (issues.length > 0 || resource === undefined || action === undefined) {
    throw new Problem('VALUE_INVALID', `${issues.length} ${issues.length === 1 ? 'mistake' : 'mistakes'} in the test context`, {
      errors: issues,
    });
  }
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

function readResource(given: JsonObject | undefined, definitions: ReadonlyMap<string, Resource>, issues: Issue[]): Resource | undefined {
  const name = given?.['name'];
  const resource = typeof name === 'string' ? definitions.get(name) : undefined;
  if (resource !== undefined && !resource.internal) return resource;
  const known = [...definitions.values()].filter((each) => !each.internal).map((each) => each.name);
  const detail =
    typeof name === 'string' ? `no resource is named "${name.slice(0, 64)}"${didYouMean(name, known)}` : 'expected the name of a resource';
  issues.push({ path: 'resource.name', code: 'resource', detail });
  return undefined;
}

function readEnvironment(
  environment: JsonObject | undefined,
  issues: Issue[],
): { readonly now: number | undefined; readonly ip: string | undefined } {
  const { timestamp, ip, ...others } = environment ?? {};
  for (const name of Object.keys(others))
    issues.push({
      path: `environment.${name.slice(0, 64)}`,
      code: 'unknown',
      detail: 'expected timestamp or ip: the other values follow from the timestamp',
    });
  const now = typeof timestamp === 'string' ? readInstant(timestamp) : undefined;
  if (timestamp !== undefined && now === undefined)
    issues.push({
      path: 'environment.timestamp',
      code: 'timestamp',
      detail: `expected an instant with its offset, such as 2026-01-31T09:00:00Z, given ${describeValue(timestamp)}`,
    });
  if (ip !== undefined && (typeof ip !== 'string' || isIP(ip) === 0))
    issues.push({ path: 'environment.ip', code: 'ip', detail: 'expected an IP address' });
  return { now, ip: typeof ip === 'string' ? ip : undefined };
}

function memberObject(body: JsonObject, name: string, issues: Issue[]): JsonObject | undefined {
  const value = body[name];
  if (value === undefined || isObject(value)) return value;
  issues.push({ path: name, code: 'type', detail: 'expected an object' });
  return undefined;
}

/** The text at `user.role` and its like. */
function readText(of: JsonObject | undefined, path: string, issues: Issue[]): string | undefined {
  const value = of?.[path.slice(path.indexOf('.') + 1)];
  if (value === undefined || typeof value === 'string') return value;
  issues.push({ path, code: 'type', detail: `expected a text, given ${describeValue(value)}` });
  return undefined;
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
