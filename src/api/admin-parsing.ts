/** How admin endpoints read their parameters: every one known, of its type and bounded, or a problem that says so. */
import { didYouMean, type Issue, Problem } from '../errors.ts';
import { isObject, type Json, type JsonObject, parseDate, parseInstant } from '../operators/index.ts';
import type { HttpRequest } from '../request/index.ts';

const MAX_LENGTH = 200;
/** Unknown members that are told: nobody reads more. */
const MOST_UNKNOWN = 100;

/** A `:name` of the path. */
export function paramOf(call: HttpRequest, name: string): string {
  const value = call.params.get(name);
  if (value === undefined || value.length > MAX_LENGTH) throw new Problem('REQUEST_MALFORMED', `expected ${name} in the path`);
  return value;
}

/** Refuses query parameters that the endpoint does not have. */
export function readQueryMembers(call: HttpRequest, known: readonly string[]): void {
  const unknown = [...call.query.keys()].filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const errors = unknown.map((path) => ({ path, code: 'unknown', detail: `unknown query parameter "${path}"${didYouMean(path, known)}` }));
  throw new Problem('REQUEST_PARAMETER', (errors[0] as { detail: string }).detail, { errors });
}

/** A text parameter, one of `allowed` where given. */
export function readTextQuery(call: HttpRequest, name: string, allowed?: readonly string[]): string | undefined {
  const value = call.query.get(name);
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value.length === 0 || value.length > MAX_LENGTH) throw unusable(name, 'expected one text');
  if (allowed !== undefined && !allowed.includes(value))
    throw unusable(name, `expected one of ${allowed.join(', ')}${didYouMean(value, allowed)}`);
  return value;
}

/** `true` or `false`. */
export function readBooleanQuery(call: HttpRequest, name: string): boolean | undefined {
  const value = readTextQuery(call, name, ['true', 'false']);
  return value === undefined ? undefined : value === 'true';
}

/** A whole number from 1 to `max`. */
export function readCountQuery(call: HttpRequest, name: string, max: number): number | undefined {
  const value = readTextQuery(call, name);
  if (value === undefined) return undefined;
  const count = /^[0-9]{1,9}$/.test(value) ? Number(value) : 0;
  if (count < 1 || count > max) throw unusable(name, `expected a whole number from 1 to ${max}`);
  return count;
}

/** An ISO 8601 instant with its offset, or a date for its beginning in UTC, as milliseconds since 1970. */
export function readInstantQuery(call: HttpRequest, name: string): number | undefined {
  const value = readTextQuery(call, name);
  if (value === undefined) return undefined;
  const time = parseInstant(value) ?? parseDate(value);
  if (time === undefined) throw unusable(name, 'expected an ISO 8601 date, or a timestamp with its offset');
  return time;
}

/** The body as an object, and which of its members are not known; an absent body is an empty object. */
export function readBody(call: HttpRequest, known: readonly string[]): { readonly body: JsonObject; readonly issues: Issue[] } {
  const body: Json = call.body ?? {};
  if (!isObject(body)) throw new Problem('REQUEST_MALFORMED', 'expected a JSON object as body');
  const unknown = Object.keys(body).filter((name) => !known.includes(name));
  const issues = unknown.slice(0, MOST_UNKNOWN).map((name) => {
    const path = name.slice(0, 64);
    return { path, code: 'unknown', detail: `unknown member "${path}"${didYouMean(name, known)}` };
  });
  return { body, issues };
}

function unusable(name: string, expected: string): Problem {
  return new Problem('REQUEST_PARAMETER', `${name}: ${expected}`, { errors: [{ path: name, code: 'invalid', detail: expected }] });
}

/** What pages go through in the order of their ids. */
type Paged = 'user' | 'policy';

/** The place behind an id. Not sealed: it holds nothing but the id, and whoever may ask may see every user and policy. */
export function toIdCursor(of: Paged, id: string): string {
  return Buffer.from(`${of} ${id}`).toString('base64url');
}

const POSITION = /^([a-z]+) ([0-9a-f-]{36})$/;
/** Characters of the longest cursor that is read. */
const MAX_CURSOR_LENGTH = 200;

/** The id that a cursor of the page before stands behind. Throws REQUEST_CURSOR where it is none of ours. */
export function readIdCursor(of: Paged, cursor: string): string {
  const [, what, id] = POSITION.exec(Buffer.from(cursor.slice(0, MAX_CURSOR_LENGTH), 'base64url').toString()) ?? [];
  if (what !== of || id === undefined) throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the page before');
  return id;
}
