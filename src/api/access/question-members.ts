/** Members that the bodies of access tests and of permission queries share: resource, action and environment. */
import { ACTIONS, type Action, type ActionName, type RuleAction, SINGLE_DECISION_ACTIONS } from '../../actions.ts';
import { didYouMean, type Issue, MAX_ISSUES } from '../../errors.ts';
import { parseInstant } from '../../operators/index.ts';
import { refuseMistakes } from '../../request/index.ts';
import { type Definitions, ordinaryResources, type Resource } from '../../resources/index.ts';
import { component, Input, OneOf, Type, type TypeOf } from '../../schemas/index.ts';

/** The schema of the tested action. */
export const TESTED_ACTION = OneOf(SINGLE_DECISION_ACTIONS, {
  description: 'An action with a single decision. For an action that needs two, such as `createIfNotExists`, send a request for each.',
});

/** The schema of the time and address of a hypothetical request. */
export const ENVIRONMENT = component(
  'admin.Environment',
  Input(
    {
      timestamp: Type.Optional(Type.String({ format: 'date-time', maxLength: 100 })),
      ip: Type.Optional(Type.String({ format: 'ip', maxLength: 100 })),
    },
    {
      description:
        'Time and address of the hypothetical request. Other values, such as the hour, are derived from the timestamp. Assignments that have expired by the timestamp do not apply.',
    },
  ),
);

/** Time and IP address of a hypothetical request. */
export interface HypotheticalEnvironment {
  /** Milliseconds since 1970. */
  readonly now: number | undefined;
  readonly ip: string | undefined;
}

/** Returns the validated environment of a body. */
export function toEnvironment({ timestamp, ip }: TypeOf<typeof ENVIRONMENT> = {}): HypotheticalEnvironment {
  return { now: timestamp === undefined ? undefined : parseInstant(timestamp), ip };
}

/** Returns the rule action that decides a tested action: `delete` for `restore`. */
export function toRuleAction(action: ActionName): RuleAction {
  return (ACTIONS.get(action) as Action).decides;
}

/** The name of a resource, and its path in the body. */
export interface GivenResource {
  readonly name: string;
  readonly path: string;
}

/** Returns the resources with these names. @throws Problem REQUEST_MALFORMED if there is no such resource, with an issue for each name */
export function requireResources(given: readonly GivenResource[], definitions: Definitions): readonly Resource[] {
  const known = ordinaryResources(definitions).map((resource) => resource.name);
  const unknown = given.filter(({ name }) => !known.includes(name)).slice(0, MAX_ISSUES);
  refuseQuestion(
    unknown.map(({ name, path }) => ({
      path,
      code: 'unknown',
      detail: `no resource is named "${name.slice(0, 64)}"${didYouMean(name, known)}`,
    })),
  );
  return given.map(({ name }) => definitions.get(name) as Resource);
}

/** Returns the resource with this name. @throws Problem REQUEST_MALFORMED */
export function requireResource(given: GivenResource, definitions: Definitions): Resource {
  return requireResources([given], definitions)[0] as Resource;
}

/** Refuses a question with mistakes that its schema cannot find. @throws Problem REQUEST_MALFORMED */
export function refuseQuestion(issues: readonly Issue[]): void {
  refuseMistakes('REQUEST_MALFORMED', issues);
}
