import { createScope, type ScopeInput } from '../src/authz/context/index.ts';
import {
  type Policy,
  type PolicyLimits,
  type PolicyRule,
  type PolicyState,
  type RolePolicy,
  toUserAssignments,
  type UserAssignment,
  type UserPolicy,
} from '../src/authz/policies/index.ts';
import type { Scope } from '../src/conditions/index.ts';
import type { JsonObject } from '../src/operators/index.ts';
import { type Definitions, parseDefinition, type Resource } from '../src/resources/index.ts';
import { SYSTEM } from '../src/resources/system/index.ts';

/** 2026-03-04 is a Wednesday. */
export const NOW: number = Date.parse('2026-03-04T10:30:00Z');

/** Limits that only tests of limits reach. */
export const LIMITS: PolicyLimits = {
  rules: 50,
  conditions: {
    depth: 16,
    references: 4,
    comparisons: 200,
    listItems: 100,
    textLength: 1000,
    expressionLength: 1000,
    expressionDepth: 32,
    relatedRecords: 100,
  },
};

/** Parses definitions, and adds the system definitions. */
export function definitionsOf(...sources: readonly JsonObject[]): Definitions {
  const resources = sources.map((source) => {
    const { resource, mistakes } = parseDefinition(source, { builtIn: true });
    if (resource === undefined) throw new Error(JSON.stringify(mistakes));
    return [resource.name, resource] as const;
  });
  return new Map([...SYSTEM, ...resources]);
}

/** A newsroom: articles of authors, desks with names, users without a department of their own. */
export const NEWSROOM: Definitions = definitionsOf(
  {
    name: 'Article',
    fields: {
      title: { type: 'string' },
      status: { type: 'enum', values: ['draft', 'published'] },
      views: { type: 'integer' },
      price: { type: 'decimal' },
      authorId: { type: 'reference', to: 'User' },
      tags: { type: 'list', of: 'string' },
      extra: { type: 'json' },
      embargo: { type: 'string', writeOnly: true },
    },
    permissions: { list: ['anon', 'user'], read: ['anon'], create: ['admin'] },
  },
  { name: 'Desk', fields: { name: { type: 'string' }, status: { type: 'integer' }, embargo: { type: 'boolean' } } },
);

/** Returns a definition; throws if it does not exist. */
export function resourceOf(name: string, definitions: Definitions = NEWSROOM): Resource {
  const resource = definitions.get(name);
  if (resource === undefined) throw new Error(`no definition of ${name}`);
  return resource;
}

/** A rule. Missing members have their defaults. */
export type SomeRule = Partial<PolicyRule>;

/** Creates a policy with these rules. Missing members have their defaults. */
export function policyOf(id: string, rules: readonly SomeRule[], others: Partial<Omit<Policy, 'id' | 'rules'>> = {}): Policy {
  const at = '2026-01-01T00:00:00.000Z';
  const defaults = {
    policyId: id,
    resource: '*',
    action: '*',
    effect: 'ALLOW',
    conditions: [],
    priority: 100,
    isActive: true,
    createdAt: at,
  } as const;
  return {
    id,
    name: `policy ${id}`,
    type: 'CUSTOM',
    isActive: true,
    priority: 100,
    createdBy: 'admin',
    tags: [],
    createdAt: at,
    updatedAt: at,
    version: 1,
    ...others,
    rules: rules.map((rule, index) => ({ ...defaults, id: `${id}.${index}`, ...rule })),
  };
}

/** Creates an assignment to a user. */
export function toUser(userId: string, policyId: string, others: Partial<UserPolicy> = {}): UserPolicy {
  return {
    id: `${userId} ${policyId}`,
    userId,
    policyId,
    assignedBy: 'admin',
    assignedAt: '2026-01-01T00:00:00.000Z',
    isActive: true,
    context: {},
    version: 1,
    ...others,
  };
}

/** Creates an assignment to a role. */
export function toRole(role: RolePolicy['role'], policyId: string, others: Partial<RolePolicy> = {}): RolePolicy {
  return {
    id: `${role} ${policyId}`,
    role,
    policyId,
    assignedBy: 'admin',
    assignedAt: '2026-01-01T00:00:00.000Z',
    isActive: true,
    priority: 100,
    version: 1,
    ...others,
  };
}

/** All policies and all assignments, of every user. */
export interface WholeState extends PolicyState {
  readonly userPolicies: readonly UserPolicy[];
}

/** Returns the assignments of a user; none for an anonymous caller. */
export function assignmentsIn({ userPolicies }: Pick<WholeState, 'userPolicies'>, userId: string | undefined): readonly UserAssignment[] {
  return toUserAssignments(userPolicies.filter((assignment) => assignment.userId === userId));
}

/** Creates a state at revision 1. */
export function stateOf(parts: Partial<Omit<WholeState, 'revision'>>): WholeState {
  return { revision: 1, policies: [], userPolicies: [], rolePolicies: [], ...parts };
}

/** Creates a scope: by default, user u1 reads an article without values. */
export function scopeOf(parts: Partial<ScopeInput> = {}): Scope {
  return createScope({ ...SCOPE_PARTS, ...parts });
}

/** Scope input: user u1 of the department sports reads an article without values on a Wednesday morning. */
export const SCOPE_PARTS: ScopeInput = {
  principal: { id: 'u1', role: 'user', attributes: { id: 'u1', role: 'user', email: 'u1@example.com', department: 'sports' } },
  action: 'read',
  resource: resourceOf('Article'),
  record: {},
  origin: { method: 'GET', path: '/api/Article', ip: '10.1.2.3' },
  now: NOW,
  timeZone: 'UTC',
  definitions: NEWSROOM,
};
