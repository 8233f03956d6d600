import { decidingRule } from '../authz/decision/index.ts';
import { applicableRules, isAssignableRole, rulesOfPolicy } from '../authz/policies/index.ts';
import { didYouMean, type Issue, Problem } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';
import { type HttpResponse, toSuccess } from '../request/index.ts';
import { ASSIGNABLE_ROLES, type Resource } from '../resources/index.ts';
import { loadPolicy } from '../storage/index.ts';
import {
  parseEnvironment,
  parseMemberObject,
  parseMemberText,
  parseResourceName,
  parseRuleAction,
  toParsingProblem,
} from './access-parsing.ts';
import { type AccessTest, type SimulatedAccess, simulateAccess } from './access-simulation.ts';
import { type AdminEndpoint, type AdminRequest, type UndescribedEndpoint, undescribed } from './admin-endpoint.ts';
import { parseBody, pathParameterOf } from './admin-parsing.ts';
import { CREATES_RECORD } from './partial-decisions.ts';

/**
 * Endpoints of access tests, which decide a hypothetical request with the same code as real requests. The tests write no audit entry of the
 * decision, so analytics do not count them.
 */
export const accessTestEndpoints: readonly AdminEndpoint[] = (
  [
    { method: 'POST', path: '/policies/test-access', handle: testAccess },
    { method: 'POST', path: '/policies/:id/test', handle: testPolicy },
  ] as readonly UndescribedEndpoint[]
).map(undescribed);

async function testAccess(admin: AdminRequest): Promise<HttpResponse> {
  const test = parseTest(admin);
  const { tx, snapshot } = admin;
  const simulated = await simulateAccess(admin, test, async ({ userId, ...query }) =>
    applicableRules(snapshot.policies, { ...query, assignments: await snapshot.assignments.of(tx, userId) }),
  );
  const { decision, ...why } = simulated.explanation;
  const rule = decidingRule(decision);
  const data = {
    allowed: decision.effect !== 'deny',
    reason: decision.reason,
    matchedPolicy: rule === undefined ? null : { id: rule.policy.id, name: rule.policy.name },
    matchedRule: rule?.id ?? null,
    ...(decision.effect === 'allow-where' ? { conditional: true } : {}),
    ...why,
  };
  return toResponse(admin, data, { test, simulated });
}

async function testPolicy(admin: AdminRequest): Promise<HttpResponse> {
  const policy = await loadPolicy(admin.tx, pathParameterOf(admin.request, 'id'));
  if (policy === undefined) throw new Problem('POLICY_UNKNOWN', 'no policy has this id');
  const test = parseTest(admin);
  const deps = { definitions: admin.snapshot.definitions, limits: admin.deps.limits };
  const simulated = await simulateAccess(admin, test, async ({ resource, action }) => rulesOfPolicy(policy, deps, { resource, action }));
  const { decision, ...why } = simulated.explanation;
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
  return toResponse(admin, data, { test, simulated });
}

async function toResponse(
  { snapshot }: AdminRequest,
  data: object,
  { test, simulated }: { readonly test: AccessTest; readonly simulated: SimulatedAccess },
): Promise<HttpResponse> {
  const warnings = warningsOfTest(test, simulated, snapshot.user);
  return { status: 200, body: toSuccess(data, warnings.length === 0 ? {} : { warnings }) };
}

/** Parses the test. Every mistake is reported. */
function parseTest({ request, snapshot }: AdminRequest): AccessTest {
  const { body, issues } = parseBody(request, ['user', 'resource', 'action', 'environment', 'data']);
  const [user, given, environment] = (['user', 'resource', 'environment'] as const).map((name) => parseMemberObject(body, name, issues));
  const resource = parseResourceName(given?.['name'], snapshot.definitions, { path: 'resource.name', issues });
  const action = parseRuleAction(body['action'], issues);
  const { now, ip } = parseEnvironment(environment, issues);
  const userId = parseMemberText(user, 'user.id', issues);
  parseMemberText(user, 'user.role', issues);
  const recordId = parseMemberText(given, 'resource.id', issues);
  validateAttributes(given, resource, issues);
  if (issues.length > 0 || resource === undefined || action === undefined) throw toParsingProblem(issues, 'the test context');
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

/** Adds an issue for each unknown field. Secret fields count as unknown, because conditions cannot read them. */
function validateAttributes(given: JsonObject | undefined, resource: Resource | undefined, issues: Issue[]): void {
  if (given === undefined || resource === undefined) return;
  const known = ['name', ...[...resource.fields.values()].filter((field) => !field.writeOnly).map((field) => field.name)];
  for (const attribute of Object.keys(given)) {
    if (known.includes(attribute)) continue;
    const name = attribute.slice(0, 64);
    issues.push({ path: `resource.${name}`, code: 'field', detail: `${resource.name} has no field "${name}"${didYouMean(name, known)}` });
  }
}

/** Maximum number of mistakes in a warning. */
const MAX_ISSUES = 5;

/** Warning about an inactive user. */
export const NOT_ACTIVE = 'the user is not active: every request of this user is refused, even if policies allow it';

/** Returns warnings that the test may differ from the admin's intention, or that an allowed request may still fail. */
export function warningsOfTest(test: AccessTest, simulated: SimulatedAccess, user: Resource): readonly string[] {
  return [...warningsOfUser(test, simulated, user), ...warningsOfRecord(test, simulated), ...warningsOfValues(simulated.issues)];
}

function warningsOfUser(
  { userId, hypothesis }: AccessTest,
  { principal, stored, isActive }: SimulatedAccess,
  user: Resource,
): readonly string[] {
  const given = hypothesis.user ?? {};
  const isUnknown = userId !== undefined && stored.user === undefined && given['role'] === undefined;
  const { role } = principal;
  const names = [...user.fields.keys()];
  const near = Object.keys(given).flatMap((name) => {
    const meant = user.fields.has(name) ? '' : didYouMean(name, names);
    return meant === '' ? [] : [`User has no field "${name.slice(0, 64)}"${meant}`];
  });
  return [
    ...(isUnknown ? ['no user has this id: without "user.role", the role is anon'] : []),
    ...(isActive ? [] : [NOT_ACTIVE]),
    ...(isAssignableRole(role) ? [] : [`no policy can be assigned to role "${role.slice(0, 64)}"${didYouMean(role, ASSIGNABLE_ROLES)}`]),
    ...near,
  ];
}

function warningsOfRecord({ resource, recordId, hypothesis, action }: AccessTest, { stored }: SimulatedAccess): readonly string[] {
  const given = Object.keys(hypothesis.resource ?? {}).filter((name) => name !== 'name' && name !== 'id');
  if (recordId === undefined || stored.record !== undefined || CREATES_RECORD.has(action) || given.length > 0) return [];
  return [`no ${resource.name} has this id: the test uses a record without attributes`];
}

function warningsOfValues(issues: readonly Issue[]): readonly string[] {
  if (issues.length === 0) return [];
  const details = issues.slice(0, MAX_ISSUES).map(({ path, detail }) => (path === '' ? detail : `${path}: ${detail}`));
  const more = issues.length > details.length ? `; and ${issues.length - details.length} more` : '';
  return [`the request would still be rejected, because its values are invalid: ${details.join('; ')}${more}`];
}
