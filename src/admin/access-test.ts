import { decidingRule } from '../decision/index.ts';
import { didYouMean, type Issue, Problem } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';
import { applicableRules, rulesOfPolicy } from '../policy/index.ts';
import type { Resource } from '../resource/index.ts';
import { toSuccess } from '../response/index.ts';
import { loadPolicy } from '../storage/index.ts';
import type { AdminCall, Endpoint } from './endpoint.ts';
import { readAction, readEnvironment, readMemberObject, readMemberText, readResourceName, toQuestionProblem } from './read-question.ts';
import { paramOf, readBody } from './reading.ts';
import { warningsOfTest } from './test-warnings.ts';
import { type AccessTest, type Tried, tryAccess } from './try-access.ts';

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
  const { tx, model } = admin;
  const tried = await tryAccess(admin, test, async ({ userId, ...asked }) =>
    applicableRules(model.policies, { ...asked, grants: await model.grants.of(tx, userId) }),
  );
  const { decision, ...why } = tried.explanation;
  const rule = decidingRule(decision);
  const data = {
    allowed: decision.effect !== 'deny',
    reason: decision.reason,
    matchedPolicy: rule === undefined ? null : { id: rule.policy.id, name: rule.policy.name },
    matchedRule: rule?.id ?? null,
    ...(decision.effect === 'allow-where' ? { conditional: true } : {}),
    ...why,
  };
  return toAnswer(admin, data, { test, tried });
}

async function testPolicy(admin: AdminCall): ReturnType<Endpoint['handle']> {
  const policy = await loadPolicy(admin.tx, paramOf(admin.call, 'id'));
  if (policy === undefined) throw new Problem('POLICY_UNKNOWN', 'no policy has this id');
  const test = readTest(admin);
  const parts = { definitions: admin.model.definitions, limits: admin.parts.limits };
  const tried = await tryAccess(admin, test, async ({ resource, action }) => rulesOfPolicy(policy, parts, { resource, action }));
  const { decision, ...why } = tried.explanation;
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
  return toAnswer(admin, data, { test, tried });
}

async function toAnswer(
  { model }: AdminCall,
  data: object,
  { test, tried }: { readonly test: AccessTest; readonly tried: Tried },
): ReturnType<Endpoint['handle']> {
  const warnings = warningsOfTest(test, tried, model.user);
  return { status: 200, body: toSuccess(data, warnings.length === 0 ? {} : { warnings }) };
}

/** Reads the test context, every mistake listed. */
function readTest({ call, model }: AdminCall): AccessTest {
  const { body, issues } = readBody(call, ['user', 'resource', 'action', 'environment', 'data']);
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
