import { decidingRule } from '../authz/decision/index.ts';
import { applicableRules, isAssignableRole, rulesOfPolicy } from '../authz/policies/index.ts';
import { didYouMean, type Issue, Problem } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';
import { toSuccess } from '../request/index.ts';
import { ASSIGNABLE_ROLES, type Resource } from '../resources/index.ts';
import { loadPolicy } from '../storage/index.ts';
import {
  parseQuestionAction,
  readEnvironment,
  readMemberObject,
  readMemberText,
  readResourceName,
  toQuestionProblem,
} from './access-parsing.ts';
import { type AccessTest, type Tried, tryAccess } from './access-simulation.ts';
import type { AdminCall, Endpoint } from './admin-endpoint.ts';
import { paramOf, readBody } from './admin-parsing.ts';
import { MAKES_RECORD } from './partial-decisions.ts';

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
  const { tx, snapshot } = admin;
  const tried = await tryAccess(admin, test, async ({ userId, ...asked }) =>
    applicableRules(snapshot.policies, { ...asked, grants: await snapshot.assignments.of(tx, userId) }),
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
  const parts = { definitions: admin.snapshot.definitions, limits: admin.parts.limits };
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
  { snapshot }: AdminCall,
  data: object,
  { test, tried }: { readonly test: AccessTest; readonly tried: Tried },
): ReturnType<Endpoint['handle']> {
  const warnings = warningsOfTest(test, tried, snapshot.user);
  return { status: 200, body: toSuccess(data, warnings.length === 0 ? {} : { warnings }) };
}

/** Reads the test context, every mistake listed. */
function readTest({ call, snapshot }: AdminCall): AccessTest {
  const { body, issues } = readBody(call, ['user', 'resource', 'action', 'environment', 'data']);
  const [user, given, environment] = (['user', 'resource', 'environment'] as const).map((name) => readMemberObject(body, name, issues));
  const resource = readResourceName(given?.['name'], snapshot.definitions, { path: 'resource.name', issues });
  const action = parseQuestionAction(body['action'], issues);
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

/** Mistakes in values that are told. */
const ISSUES_TOLD = 5;

/** The warning on every answer about a user who is not active. */
export const NOT_ACTIVE = 'the user is not active: no token of theirs is accepted, whatever policies say';

/** What a test would otherwise hide: that it tries out something else than was meant, or that a grant is not yet a success. */
export function warningsOfTest(test: AccessTest, tried: Tried, user: Resource): readonly string[] {
  return [...warningsOfUser(test, tried, user), ...warningsOfRecord(test, tried), ...warningsOfValues(tried.issues)];
}

function warningsOfUser({ userId, hypothesis }: AccessTest, { principal, stored, isActive }: Tried, user: Resource): readonly string[] {
  const said = hypothesis.user ?? {};
  const isUnknown = userId !== undefined && stored.user === undefined && said['role'] === undefined;
  const { role } = principal;
  const names = [...user.fields.keys()];
  const near = Object.keys(said).flatMap((name) => {
    const meant = user.fields.has(name) ? '' : didYouMean(name, names);
    return meant === '' ? [] : [`no field of User is called "${name.slice(0, 64)}"${meant}`];
  });
  return [
    ...(isUnknown ? ['no user has this id: as long as "user.role" says nothing else, the role is anon'] : []),
    ...(isActive ? [] : [NOT_ACTIVE]),
    ...(isAssignableRole(role) ? [] : [`no policy can be assigned to role "${role.slice(0, 64)}"${didYouMean(role, ASSIGNABLE_ROLES)}`]),
    ...near,
  ];
}

function warningsOfRecord({ resource, recordId, hypothesis, action }: AccessTest, { stored }: Tried): readonly string[] {
  const said = Object.keys(hypothesis.resource ?? {}).filter((name) => name !== 'name' && name !== 'id');
  if (recordId === undefined || stored.record !== undefined || MAKES_RECORD.has(action) || said.length > 0) return [];
  return [`no ${resource.name} has this id: it is a record without attributes`];
}

function warningsOfValues(issues: readonly Issue[]): readonly string[] {
  if (issues.length === 0) return [];
  const told = issues.slice(0, ISSUES_TOLD).map(({ path, detail }) => (path === '' ? detail : `${path}: ${detail}`));
  const more = issues.length > told.length ? `; and ${issues.length - told.length} more` : '';
  return [`the request would be refused for its values all the same: ${told.join('; ')}${more}`];
}
