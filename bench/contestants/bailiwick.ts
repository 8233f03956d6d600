import { createScope } from '../../src/authz/context/index.ts';
import { type DecideOptions, decide, type RuleStep } from '../../src/authz/decision/index.ts';
import {
  applicableRules,
  compilePolicies,
  type PolicySnapshot,
  type RolePolicy,
  toUserAssignments,
  type UserAssignment,
} from '../../src/authz/policies/index.ts';
import type { Definitions } from '../../src/resources/index.ts';
import { definitionsOf, LIMITS, NOW, policyOf, resourceOf, stateOf, toRole, toUser, type WholeState } from '../../test/policy-fixtures.ts';
import { type Contestant, type Run, type Shape, type ShapeRequest, type ShapeRule, STATUSES } from './shape.ts';

/** Bailiwick: the whole decision of a request, from compiled policies to the decision with its reason. */
export const bailiwick: Contestant = {
  name: 'bailiwick',
  prepare: async (shape) => toRun(shape, prepareSnapshot(toState(shape))),
};

/** Bailiwick with a trace of each rule, as for explanations. */
export const bailiwickTraced: Contestant = {
  name: 'bailiwick, traced',
  prepare: async (shape) => {
    const steps: RuleStep[] = [];
    const run = toRun(shape, prepareSnapshot(toState(shape)), (step) => steps.push(step));
    return () => {
      steps.length = 0;
      return run();
    };
  },
};

/** Bailiwick with policies assigned to users instead of roles. */
export const bailiwickByUser: Contestant = {
  name: 'bailiwick, by user',
  prepare: async (shape) => toRun(shape, prepareSnapshot(toStateByUser(shape))),
};

const DEFINITIONS: Definitions = definitionsOf({
  name: 'Article',
  fields: {
    authorId: { type: 'reference', to: 'User' },
    status: { type: 'enum', values: [...STATUSES, 'other'] },
    views: { type: 'integer' },
  },
});

/** Compiled policies, and the assignments of each user, which the service loads with the user's first request. */
export interface Prepared {
  readonly snapshot: PolicySnapshot;
  readonly assignments: ReadonlyMap<string, readonly UserAssignment[]>;
}

/** Compiles the policies. Apart from `Article`, the resources of shapes have no definition. */
export function prepareSnapshot(state: WholeState): Prepared {
  const byUser = Map.groupBy(state.userPolicies, ({ userId }) => userId);
  const assignments = new Map([...byUser].map(([userId, own]) => [userId, toUserAssignments(own)]));
  return { snapshot: compilePolicies(state, DEFINITIONS, LIMITS), assignments };
}

/** Creates a policy for each role of the shape, and assigns it to the role. */
export function toState(shape: Shape): WholeState {
  const byRole = Map.groupBy(shape.rules, (rule) => rule.role);
  return stateOf({
    policies: [...byRole].map(([role, rules]) =>
      policyOf(
        `policy of ${role}`,
        rules.map((rule, index) => ({ ...toRule(rule), priority: 1000 - index })),
      ),
    ),
    // The API accepts six roles; compiled policies accept any.
    rolePolicies: [...byRole.keys()].map((role) => toRole(role as RolePolicy['role'], `policy of ${role}`)),
  });
}

/** Creates the same policies, assigned to users. */
export function toStateByUser(shape: Shape): WholeState {
  const { policies } = toState(shape);
  return stateOf({ policies, userPolicies: [...shape.users].map(([userId, role]) => toUser(userId, `policy of ${role}`)) });
}

function toRule({ resource, action, when }: ShapeRule) {
  const value = typeof when?.equals === 'string' ? when.equals : '${user.id}';
  return { resource, action, conditions: when === undefined ? [] : [{ field: `resource.${when.field}`, operator: 'eq', value }] };
}

/** Returns a function that decides the shape's requests in turn. */
export function toRun(shape: Shape, { snapshot, assignments }: Prepared, trace?: DecideOptions['trace']): Run {
  const article = resourceOf('Article', DEFINITIONS);
  const resources = new Map(shape.requests.map(({ resource }) => [resource, { ...article, name: resource }]));
  const requests = shape.requests.map((request) => ({ request, resource: resources.get(request.resource) ?? article }));
  let next = 0;
  return () => {
    const { request, resource } = requests[next++ % requests.length] as { request: ShapeRequest; resource: typeof article };
    const { userId, role, action, record } = request;
    const own = assignments.get(userId) ?? [];
    const applicable = applicableRules(snapshot, { assignments: own, role, resource: request.resource, action, now: NOW });
    const scope = createScope({
      principal: { id: userId, role, attributes: { id: userId, role } },
      action,
      resource,
      record,
      recordId: undefined,
      origin: { method: 'GET', path: '/api', ip: '10.1.2.3' },
      data: undefined,
      now: NOW,
      timeZone: 'UTC',
      definitions: DEFINITIONS,
    });
    return decide(applicable, scope, { userId, role, trace }).effect === 'allow';
  };
}
