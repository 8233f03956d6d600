/** What the "what if" and "who can" questions have in common: resource, action and environment, read so that every mistake is reported. */
import { isIP } from 'node:net';
import { ACTIONS, RULE_ACTIONS, type RuleAction } from '../actions.ts';
import { didYouMean, type Issue, Problem } from '../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, parseInstant } from '../operators/index.ts';
import { type Definitions, ordinaryResources, type Resource } from '../resources/index.ts';

/** The moment and address that a question is asked for; absent members are for the one who decides to fill. */
export interface AskedEnvironment {
  /** Milliseconds since 1970. */
  readonly now: number | undefined;
  readonly ip: string | undefined;
}

/** The resource of that name; undefined where there is none, which is reported at `path`. */
export function readResourceName(
  name: Json | undefined,
  definitions: Definitions,
  report: { readonly path: string; readonly issues: Issue[] },
): Resource | undefined {
  const resource = typeof name === 'string' ? definitions.get(name) : undefined;
  if (resource !== undefined && !resource.internal) return resource;
  const known = ordinaryResources(definitions).map((each) => each.name);
  const detail =
    typeof name === 'string' ? `no resource is named "${name.slice(0, 64)}"${didYouMean(name, known)}` : 'expected the name of a resource';
  report.issues.push({ path: report.path, code: 'resource', detail });
  return undefined;
}

/** What rules call the action of that name. One that takes two decisions is two questions. */
export function parseQuestionAction(given: Json | undefined, issues: Issue[]): RuleAction | undefined {
  const name = typeof given === 'string' ? given : '';
  const { decides, alsoDecides } = ACTIONS.get(name) ?? {};
  const action = alsoDecides === undefined ? decides : undefined;
  if (alsoDecides !== undefined)
    issues.push({ path: 'action', code: 'action', detail: `expected ${decides} or ${alsoDecides}: ${name} takes both` });
  else if (action === undefined)
    issues.push({ path: 'action', code: 'action', detail: `expected one of ${RULE_ACTIONS.join(', ')}${didYouMean(name, RULE_ACTIONS)}` });
  return action;
}

/** `timestamp` and `ip`; every other value of `environment.…` follows from them. */
export function readEnvironment(environment: JsonObject | undefined, issues: Issue[]): AskedEnvironment {
  const { timestamp, ip, ...others } = environment ?? {};
  for (const name of Object.keys(others))
    issues.push({
      path: `environment.${name.slice(0, 64)}`,
      code: 'unknown',
      detail: 'expected timestamp or ip: the other values follow from the timestamp',
    });
  const now = typeof timestamp === 'string' ? parseInstant(timestamp) : undefined;
  if (timestamp !== undefined && now === undefined)
    issues.push({
      path: 'environment.timestamp',
      code: 'timestamp',
      detail: `expected an instant with its offset, such as 2026-01-31T09:00:00Z, given ${describeValue(timestamp)}`,
    });
  if (ip !== undefined && (typeof ip !== 'string' || isIP(ip) === 0))
    issues.push({ path: 'environment.ip', code: 'ip', detail: 'expected an IP address' });
  return { now, ip: typeof ip === 'string' ? ip : undefined };
}

/** The object at a member of the body. */
export function readMemberObject(body: JsonObject, name: string, issues: Issue[]): JsonObject | undefined {
  const value = body[name];
  if (value === undefined || isObject(value)) return value;
  issues.push({ path: name, code: 'type', detail: 'expected an object' });
  return undefined;
}

/** The text at `path`, whose last name is the member of `of`. */
export function readMemberText(of: JsonObject | undefined, path: string, issues: Issue[]): string | undefined {
  const value = of?.[path.slice(path.indexOf('.') + 1)];
  if (value === undefined || typeof value === 'string') return value;
  issues.push({ path, code: 'type', detail: `expected a text, given ${describeValue(value)}` });
  return undefined;
}

/** The problem that lists every mistake in a question. */
export function toQuestionProblem(issues: readonly Issue[], what: string): Problem {
  return new Problem('VALUE_INVALID', `${issues.length} ${issues.length === 1 ? 'mistake' : 'mistakes'} in ${what}`, { errors: issues });
}
