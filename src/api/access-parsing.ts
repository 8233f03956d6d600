/** Parses the members that access tests and permission queries share: resource, action and environment. Every mistake is reported. */

import { isIP } from 'node:net';
import { ACTIONS, RULE_ACTIONS, type RuleAction } from '../actions.ts';
import { didYouMean, type Issue, Problem } from '../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, parseInstant } from '../operators/index.ts';
import { type Definitions, ordinaryResources, type Resource } from '../resources/index.ts';

/** Time and IP address of a hypothetical request, as given. */
export interface ParsedEnvironment {
  /** Milliseconds since 1970. */
  readonly now: number | undefined;
  readonly ip: string | undefined;
}

/** Returns the resource with this name. Adds an issue at `path` if no such resource exists. */
export function parseResourceName(
  name: Json | undefined,
  definitions: Definitions,
  report: { readonly path: string; readonly issues: Issue[] },
): Resource | undefined {
  const resource = typeof name === 'string' ? definitions.get(name) : undefined;
  if (resource !== undefined && !resource.internal) return resource;
  const known = ordinaryResources(definitions).map((each) => each.name);
  const detail =
    typeof name === 'string' ? `no resource is named "${name.slice(0, 64)}"${didYouMean(name, known)}` : 'expected the name of a resource';
  report.issues.push({ path: report.path, code: 'unknown', detail });
  return undefined;
}

/** Parses an action name and returns the rule action. Adds an issue for an action that needs two decisions. */
export function parseRuleAction(given: Json | undefined, issues: Issue[]): RuleAction | undefined {
  const name = typeof given === 'string' ? given : '';
  const { decides, alsoDecides } = ACTIONS.get(name) ?? {};
  const action = alsoDecides === undefined ? decides : undefined;
  if (alsoDecides !== undefined)
    issues.push({ path: 'action', code: 'enum', detail: `expected ${decides} or ${alsoDecides}: ${name} needs both` });
  else if (action === undefined)
    issues.push({ path: 'action', code: 'enum', detail: `expected one of ${RULE_ACTIONS.join(', ')}${didYouMean(name, RULE_ACTIONS)}` });
  return action;
}

/** Parses `timestamp` and `ip`. Every other value of `environment.…` is derived from them. */
export function parseEnvironment(environment: JsonObject | undefined, issues: Issue[]): ParsedEnvironment {
  const { timestamp, ip, ...others } = environment ?? {};
  for (const name of Object.keys(others))
    issues.push({
      path: `environment.${name.slice(0, 64)}`,
      code: 'unknown',
      detail: 'expected timestamp or ip: the other values are derived from the timestamp',
    });
  const now = typeof timestamp === 'string' ? parseInstant(timestamp) : undefined;
  if (timestamp !== undefined && now === undefined)
    issues.push({
      path: 'environment.timestamp',
      code: 'format',
      detail: `expected an instant with its offset, such as 2026-01-31T09:00:00Z, given ${describeValue(timestamp)}`,
    });
  if (ip !== undefined && (typeof ip !== 'string' || isIP(ip) === 0))
    issues.push({ path: 'environment.ip', code: 'format', detail: 'expected an IP address' });
  return { now, ip: typeof ip === 'string' ? ip : undefined };
}

/** Parses an optional object member. */
export function parseMemberObject(body: JsonObject, name: string, issues: Issue[]): JsonObject | undefined {
  const value = body[name];
  if (value === undefined || isObject(value)) return value;
  issues.push({ path: name, code: 'type', detail: 'expected an object' });
  return undefined;
}

/** Parses an optional text member of `of`. The name of the member is the last name in `path`. */
export function parseMemberText(of: JsonObject | undefined, path: string, issues: Issue[]): string | undefined {
  const value = of?.[path.slice(path.indexOf('.') + 1)];
  if (value === undefined || typeof value === 'string') return value;
  issues.push({ path, code: 'type', detail: `expected a text, given ${describeValue(value)}` });
  return undefined;
}

/** Returns the problem that lists all mistakes. */
export function toParsingProblem(issues: readonly Issue[], subject: string): Problem {
  return new Problem('VALUE_INVALID', `${issues.length} ${issues.length === 1 ? 'mistake' : 'mistakes'} in ${subject}`, { errors: issues });
}
