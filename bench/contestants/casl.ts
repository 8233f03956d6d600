import { loadContestant } from './install.ts';
import type { Contestant, Run, Shape, ShapeRequest, ShapeRule } from './shape.ts';

interface Ability {
  can(action: string, subject: unknown): boolean;
}

/** The part of its API that is used. Its own types are installed only with it. */
interface Casl {
  createMongoAbility(rules: readonly object[]): Ability;
  subject(type: string, record: object): object;
}

/** CASL with a rule set built for each request. CASL has no roles and no users, so a rule set belongs to one user. */
export const caslPerRequest: Contestant = {
  name: 'casl, per request',
  prepare: async (shape) => toRun(shape, (abilityOf, { userId }) => abilityOf(userId)),
};

/** CASL with a rule set for each user that is built once and kept. */
export const caslKept: Contestant = {
  name: 'casl, kept',
  prepare: async (shape) => {
    const kept = new Map<string, Ability>();
    return toRun(shape, (abilityOf, { userId }) => {
      const ability = kept.get(userId) ?? abilityOf(userId);
      kept.set(userId, ability);
      return ability;
    });
  },
};

function toRun(shape: Shape, pick: (abilityOf: (userId: string) => Ability, request: ShapeRequest) => Ability): Run {
  const { createMongoAbility, subject } = loadContestant<Casl>('@casl/ability');
  const byRole = Map.groupBy(shape.rules, (rule) => rule.role);
  const abilityOf = (userId: string): Ability => {
    const rules = byRole.get(shape.users.get(userId) ?? '') ?? [];
    // The last rule has precedence.
    return createMongoAbility(rules.map((rule) => toRule(rule, userId)).reverse());
  };
  const requests = shape.requests.map((request) => ({ request, record: subject(request.resource, { ...request.record }) }));
  let next = 0;
  return () => {
    const { request, record } = requests[next++ % requests.length] as (typeof requests)[number];
    return pick(abilityOf, request).can(request.action, record);
  };
}

function toRule({ resource, action, when }: ShapeRule, userId: string): object {
  if (when === undefined) return { action, subject: resource };
  return { action, subject: resource, conditions: { [when.field]: typeof when.equals === 'string' ? when.equals : userId } };
}
