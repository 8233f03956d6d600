import type { JsonObject } from '../../src/operators/index.ts';

/** A rule of a shape, independent of the contestants' policy languages. */
export interface ShapeRule {
  /** The role that the policy of the rule is assigned to. There is one policy for each role, with its name. */
  readonly role: string;
  readonly resource: string;
  readonly action: string;
  /** A condition on the record: a field equals a value or the caller's id. */
  readonly when?: { readonly field: string; readonly equals: string | { readonly caller: 'id' } };
}

/** A request of a shape. All requests are allowed. */
export interface ShapeRequest {
  readonly userId: string;
  readonly role: string;
  readonly resource: string;
  readonly action: 'read';
  readonly record: JsonObject;
}

/** A set of rules, and the requests to decide in turn. */
export interface Shape {
  readonly name: string;
  /** Rules in the order of their precedence. */
  readonly rules: readonly ShapeRule[];
  /** Role of each user. */
  readonly users: ReadonlyMap<string, string>;
  readonly requests: readonly ShapeRequest[];
}

/** Decides the next request. One-time work has been done before. */
export type Run = () => boolean;

/** A policy engine that is measured in process. */
export interface Contestant {
  readonly name: string;
  /** Returns undefined if the contestant does not support the shape. */
  prepare(shape: Shape): Promise<Run | undefined>;
}

/** Number of different requests, so that no contestant can use a cached decision. */
const REQUESTS = 64;

/** Values of `Article.status`. */
export const STATUSES: readonly string[] = Array.from({ length: 100 }, (_, index) => `s${index}`);

const OWN: NonNullable<ShapeRule['when']> = { field: 'authorId', equals: { caller: 'id' } };
const own: ShapeRule = { role: 'user', resource: 'Article', action: 'read', when: OWN };

/** One own-records rule; the last of 101 rules; Casbin's RBAC benchmarks; and as many conditional rules as these benchmarks have lines. */
export const SHAPES: readonly Shape[] = [
  articles('1 rule', [own]),
  articles('101 rules', [...STATUSES.map((status) => ({ ...own, when: { field: 'status', equals: status } })), own]),
  roles('RBAC small: 1,000 users, 100 roles', { users: 1000, roles: 100, rulesEach: 1 }),
  roles('RBAC medium: 10,000 users, 1,000 roles', { users: 10_000, roles: 1000, rulesEach: 1 }),
  roles('RBAC large: 100,000 users, 10,000 roles', { users: 100_000, roles: 10_000, rulesEach: 1 }),
  roles('own records: 1,100 rules, 100 roles', { users: 1000, roles: 100, rulesEach: 11, when: OWN }),
  roles('own records: 110,000 rules, 10,000 roles', { users: 100_000, roles: 10_000, rulesEach: 11, when: OWN }),
];

/** Returns a shape of users who read their own articles. No rule names the status of these articles. */
function articles(name: string, rules: readonly ShapeRule[]): Shape {
  const ids = Array.from({ length: REQUESTS }, (_, index) => `u${index}`);
  return {
    name,
    rules,
    users: new Map(ids.map((id) => [id, 'user'])),
    requests: ids.map((userId, index) => ({
      userId,
      role: 'user',
      resource: 'Article',
      action: 'read',
      record: { id: `a${index}`, authorId: userId, status: 'other', views: index },
    })),
  };
}

interface RoleCounts {
  readonly users: number;
  readonly roles: number;
  readonly rulesEach: number;
  /** The condition of all rules. */
  readonly when?: ShapeRule['when'];
}

/** Returns a shape as in the RBAC benchmarks of Casbin: user i has role i/10, and role i may read resource i/10. */
function roles(name: string, count: RoleCounts): Shape {
  const dataOf = (role: number, nth: number) => `Data${Math.floor(role / 10) + nth}`;
  const rules = Array.from({ length: count.roles }, (_, role) =>
    Array.from({ length: count.rulesEach }, (_each, nth) => ({
      role: `group${role}`,
      resource: dataOf(role, nth),
      action: 'read',
      ...(count.when && { when: count.when }),
    })),
  ).flat();
  const roleOf = (user: number) => Math.floor((user * count.roles) / count.users);
  return {
    name,
    rules,
    users: new Map(Array.from({ length: count.users }, (_, user) => [`user${user}`, `group${roleOf(user)}`])),
    requests: Array.from({ length: REQUESTS }, (_, index) => {
      const user = Math.floor(((index + 0.5) * count.users) / REQUESTS);
      const role = roleOf(user);
      return {
        userId: `user${user}`,
        role: `group${role}`,
        resource: dataOf(role, 0),
        action: 'read',
        record: { id: `d${index}`, authorId: `user${user}` },
      };
    }),
  };
}
