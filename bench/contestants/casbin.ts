import { loadContestant } from './install.ts';
import type { Contestant, Shape, ShapeRequest, ShapeRule } from './shape.ts';

/** The part of its API that is used. Its own types are installed only with it. */
interface Casbin {
  newEnforcer(model: object, adapter: object): Promise<{ enforceSync(...request: readonly unknown[]): boolean }>;
  newModelFromString(text: string): object;
  readonly StringAdapter: new (policies: string) => object;
}

/** node-casbin with its synchronous API. Roles use its role manager, conditions use `eval`. */
export const casbin: Contestant = {
  name: 'casbin',
  async prepare(shape) {
    const { newEnforcer, newModelFromString, StringAdapter } = loadContestant<Casbin>('casbin');
    const conditional = shape.rules.some((rule) => rule.when !== undefined);
    // Roles and conditions in one model would be `g(…) && eval(…)`: slower than either, without new information.
    if (conditional && new Set(shape.users.values()).size > 1) return undefined;
    const enforcer = await newEnforcer(newModelFromString(conditional ? WITH_CONDITIONS : WITH_ROLES), new StringAdapter(toLines(shape)));
    const requests = shape.requests.map((request) => (conditional ? toObjects(request) : toNames(request)));
    let next = 0;
    return () => enforcer.enforceSync(...(requests[next++ % requests.length] as readonly unknown[]));
  },
};

const WITH_ROLES = `
[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = g(r.sub, p.sub) && r.obj == p.obj && r.act == p.act
`;

const WITH_CONDITIONS = `
[request_definition]
r = sub, obj, act
[policy_definition]
p = sub_rule, obj, act
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.obj.type == p.obj && r.act == p.act && eval(p.sub_rule)
`;

function toLines({ rules, users }: Shape): string {
  const policies = rules.map((rule) => `p, ${rule.when === undefined ? rule.role : toRule(rule.when)}, ${rule.resource}, ${rule.action}`);
  const conditional = rules.some((rule) => rule.when !== undefined);
  return [...policies, ...(conditional ? [] : [...users].map(([user, role]) => `g, ${user}, ${role}`))].join('\n');
}

function toRule({ field, equals }: NonNullable<ShapeRule['when']>): string {
  return `r.obj.${field} == ${typeof equals === 'string' ? `'${equals}'` : `r.sub.${equals.caller}`}`;
}

function toNames({ userId, resource, action }: ShapeRequest): readonly unknown[] {
  return [userId, resource, action];
}

function toObjects({ userId, role, resource, action, record }: ShapeRequest): readonly unknown[] {
  return [{ id: userId, role }, { ...record, type: resource }, action];
}
