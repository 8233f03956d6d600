/** Random policies, callers and records of the newsroom of `policy-fixtures.ts`, and their decisions. */
import fc from 'fast-check';
import { RULE_ACTIONS } from '../../src/actions.ts';
import { createScope, describePath, type ScopeInput } from '../../src/authz/context/index.ts';
import { type Decision, decide } from '../../src/authz/decision/index.ts';
import { type ApplicableRules, applicableRules, compilePolicies, type Policy } from '../../src/authz/policies/index.ts';
import { parseConditions } from '../../src/conditions/index.ts';
import type { Json, JsonObject } from '../../src/operators/index.ts';
import {
  assignmentsIn,
  LIMITS,
  NEWSROOM,
  NOW,
  policyOf,
  resourceOf,
  type SomeRule,
  stateOf,
  toRole,
  toUser,
  type WholeState,
} from '../policy-fixtures.ts';
import { authorOf } from '../reference/newsroom-facts.ts';

const few = { maxLength: 4 };
const users = ['u1', 'u2'] as const;
const roles = ['user', 'editor'] as const;
const departments = ['sports', 'culture'] as const;

const value: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  ...['draft', 'published', 'u1', 'u2', 'sports', 3, 10, 3.5, true, null, '12.30'],
  ...['user.id', 'user.department', 'resource.authorId', 'resource.authorId.role', 'resource.views'].map((path) => `\${${path}}`),
  `draft \${user.id}`,
);
const field = fc.constantFrom(
  ...['user.id', 'user.role', 'user.department', 'user.level', 'user.missing', 'environment.hour', 'request.action'],
  ...['id', 'name', 'status', 'views', 'authorId', 'tags', 'price', 'embargo', 'extra.a', 'authorId.role', 'authorId.isActive'].map(
    (name) => `resource.${name}`,
  ),
);
const comparison: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ field, operator: fc.constantFrom('eq', 'ne', 'gt', 'lte', 'startsWith', 'has', 'contains'), value }),
  fc.record({ field, operator: fc.constantFrom('in', 'nin', 'hasAny', 'between'), value: fc.array(value, { maxLength: 3 }) }),
  fc.record({ field, operator: fc.constantFrom('exists', 'isNull', 'empty'), value: fc.boolean() }),
  fc.record({ field, operator: fc.constant('eq'), value, ifExists: fc.boolean() }),
);
/** Conditions that are refused today, but may be stored from earlier. */
const broken = fc.constantFrom<JsonObject>(
  { field: 'user.id', operator: 'equals', value: 'u1' },
  { field: 'user.id', operator: 'eq', value: 3 },
  { field: 'resource.removed', operator: 'ne', value: 'x' },
  { field: 'resource.views', operator: 'startsWith', value: '1' },
);

function conditionOn(resource: string): fc.Arbitrary<JsonObject> {
  const { condition } = fc.letrec<{ condition: JsonObject }>((tie) => ({
    condition: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      { weight: 10, arbitrary: comparison.filter((one) => isWritable(resource, one)) },
      { weight: 1, arbitrary: broken },
      { weight: 2, arbitrary: fc.record({ anyOf: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }) },
      { weight: 2, arbitrary: fc.record({ allOf: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }) },
      { weight: 2, arbitrary: fc.record({ not: tie('condition') }) },
    ),
  }));
  return condition;
}

/** Generates conditions that a policy can contain. The reference decider does not validate conditions. */
function isWritable(resource: string, condition: JsonObject): boolean {
  const reader = { at: '', expressions: true, limits: LIMITS.conditions, describePath: describePath(NEWSROOM, resource) };
  return parseConditions([condition], reader).issues.length === 0;
}

// Mostly equal, because ties are where an order can go wrong.
const priority = fc.constantFrom(99, 100, 100, 100, 101);
const rule: fc.Arbitrary<SomeRule> = fc.oneof(
  ...['Article', 'Article', 'Desk', '*'].map((resource) =>
    fc.record({
      resource: fc.constant(resource),
      action: fc.constantFrom('*', '*', 'read', 'list'),
      effect: fc.constantFrom('ALLOW' as const, 'ALLOW' as const, 'DENY' as const),
      conditions: fc.oneof(fc.constant([]), fc.array(conditionOn(resource), { maxLength: 2 })),
      priority,
      isActive: fc.constantFrom(true, true, true, false),
    }),
  ),
);
/** Policies with their assignments. */
export const newsroomState: fc.Arbitrary<WholeState> = fc
  .array(fc.record({ rules: fc.array(rule, few), priority, isActive: fc.constantFrom(true, true, true, false) }), {
    minLength: 1,
    maxLength: 4,
  })
  .chain((drafts) => {
    const policies: Policy[] = drafts.map(({ rules, ...others }, index) => policyOf(`p${index}`, rules, others));
    const id = fc.constantFrom(...policies.map((policy) => policy.id));
    const isActive = fc.constantFrom(true, true, true, false);
    const expiresAt = fc
      .constantFrom(undefined, NOW - 1, NOW, NOW + 1)
      .map((at) => (at === undefined ? undefined : new Date(at).toISOString()));
    return fc
      .record({
        toUsers: fc.uniqueArray(fc.tuple(fc.constantFrom(...users), id, fc.record({ isActive, expiresAt })), {
          ...few,
          selector: ([user, policy]) => `${user} ${policy}`,
        }),
        toRoles: fc.uniqueArray(fc.tuple(fc.constantFrom(...roles), id, fc.record({ isActive, priority })), {
          maxLength: 5,
          selector: ([role, policy]) => `${role} ${policy}`,
        }),
      })
      .map(({ toUsers, toRoles }) =>
        stateOf({ policies, userPolicies: toUsers.map((one) => toUser(...one)), rolePolicies: toRoles.map((one) => toRole(...one)) }),
      );
  });

/** An article. */
export const newsroomRecord: fc.Arbitrary<JsonObject> = fc.record(
  {
    id: fc.constantFrom('a1', 'a2'),
    status: fc.constantFrom('draft', 'published'),
    views: fc.constantFrom(3, 10, 11),
    price: fc.constantFrom('12.30', '3.00'),
    authorId: fc.constantFrom(...users),
    tags: fc.subarray(['draft', 'sports']),
    extra: fc.constantFrom({}, { a: 3 }, { a: 'sports' }),
  },
  { requiredKeys: ['id'] },
);
/** A request about an article. */
export const newsroomParts: fc.Arbitrary<ScopeInput> = fc
  .record({
    id: fc.constantFrom(undefined, ...users),
    role: fc.constantFrom(...roles),
    attributes: fc.record(
      { department: fc.constantFrom(...departments), level: fc.constantFrom<Json>(3, '3', null) },
      { requiredKeys: [] },
    ),
    action: fc.constantFrom(...RULE_ACTIONS, 'read' as const, 'list' as const),
    record: fc.option(newsroomRecord, { nil: undefined }),
  })
  .map(({ id, role, attributes, action, record }) => ({
    principal: { id, role, attributes },
    action,
    resource: resourceOf('Article'),
    record,
    recordId: 'a1',
    referenced: authorOf(record),
    origin: { method: 'GET', path: '/', ip: '10.0.0.1' },
    now: NOW,
    timeZone: 'UTC',
    definitions: NEWSROOM,
  }));

/** Returns the rules that apply to a request, and the decision. */
export function decideWithRules(
  policies: WholeState,
  { principal, resource, action, now, ...others }: ScopeInput,
): { readonly applicable: ApplicableRules; readonly decision: Decision } {
  const applicable = applicableRules(compilePolicies(policies, NEWSROOM, LIMITS), {
    assignments: assignmentsIn(policies, principal.id),
    role: principal.role,
    resource: resource.name,
    action,
    now,
  });
  return {
    applicable,
    decision: decide(applicable, createScope({ principal, resource, action, now, ...others }), {
      userId: principal.id,
      role: principal.role,
    }),
  };
}
