import type { RuleAction } from '../../actions.ts';
import { type ContextGroup, OPEN, type Path, type PathKind, type Scope } from '../../conditions/index.ts';
import { type Json, type JsonObject, type Kind, ownValue } from '../../operators/index.ts';
import type { RequestOrigin } from '../../request/index.ts';
import { type Definitions, fieldAt, fieldKind, type Resource } from '../../resources/index.ts';
import { ENVIRONMENT_KINDS, toEnvironment, toPathKind } from './environment.ts';
import { IDENTITY_NAMES, type Principal } from './principal.ts';

/**
 * The records that principal and record refer to, by the path of the reference: `resource.authorId` → that user's fields.
 * Whoever makes a scope loads those that conditions read; what is not here is missing.
 */
export type ReferencedRecords = ReadonlyMap<string, JsonObject>;

/** What a scope is made of. */
export interface ScopeParts {
  readonly principal: Principal;
  readonly action: RuleAction;
  readonly resource: Resource;
  /** OPEN is any record (a list); undefined is a record without attributes (one that does not exist). */
  readonly record: JsonObject | typeof OPEN | undefined;
  /** The id asked for, where the record itself does not say it. */
  readonly recordId?: string | undefined;
  readonly origin: Pick<RequestOrigin, 'method' | 'path' | 'ip'>;
  /** What the request sends. */
  readonly data?: Json | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** IANA name. */
  readonly timeZone: string;
  /** Say what `user.…` and what references lead to compares as, and which of it is secret. */
  readonly definitions: Definitions;
  readonly referred?: ReferencedRecords | undefined;
}

type Value = Json | undefined | typeof OPEN;

/**
 * Lays the parts out as conditions read them. `resource.name` is the record's field of that name where the resource
 * has one (it must mean the same here as in a list's filter), and the name of the resource where it has none.
 */
export function createScope(parts: ScopeParts): Scope {
  /** Rules often ask for the same, one after the other. */
  let last: Path | undefined;
  let value: Value;
  // Not frozen: freezing is dear where one is made for each decision.
  return {
    now: parts.now,
    timeZone: parts.timeZone,
    valueOf(path: Path): Value {
      if (path !== last) {
        value = valueIn[path.group](parts, path.keys);
        last = path;
      }
      return value;
    },
    kindOf: ({ group, keys }: Path): PathKind | undefined => kindIn[group](parts, keys),
    kindsFrom: parts,
  };
}

const valueIn: Readonly<Record<ContextGroup, (parts: ScopeParts, keys: readonly string[]) => Value>> = {
  user: (parts, keys) =>
    keys.length === 1
      ? userValue(parts, keys[0])
      : fieldValue(parts, { group: 'user', of: parts.definitions.get('User'), keys }, userValue),
  resource: (parts, keys) =>
    keys.length === 1 ? recordValue(parts, keys[0]) : fieldValue(parts, { group: 'resource', of: parts.resource, keys }, recordValue),
  environment: (parts, [key, ...inner]) => within(environmentValue(parts, key), inner),
  request: (parts, [key, ...inner]) => within(requestValue(parts, key), inner),
};

const kindIn: Readonly<Record<ContextGroup, (parts: ScopeParts, keys: readonly string[]) => PathKind | undefined>> = {
  user: ({ definitions }, keys) => fieldKindAt(definitions, definitions.get('User'), keys) ?? textWhere(keys, ...IDENTITY_NAMES),
  resource: ({ definitions, resource }, keys) => fieldKindAt(definitions, resource, keys) ?? textWhere(keys, 'id', 'name'),
  environment: (_, keys) => knownKind(ENVIRONMENT_KINDS, keys),
  request: (_, keys) => knownKind(REQUEST_KINDS, keys),
};

interface FieldPath {
  readonly group: 'user' | 'resource';
  readonly of: Resource | undefined;
  readonly keys: readonly string[];
}

type OwnValue = (parts: ScopeParts, key: string | undefined) => Value;

/** What lies in a value of the record itself, or in the record that one of its references leads to. */
function fieldValue(parts: ScopeParts, { group, of, keys }: FieldPath, ownOf: OwnValue): Value {
  const [key, ...inner] = keys;
  const own = ownOf(parts, key);
  if (own === OPEN || key === undefined || of?.fields.get(key)?.to === undefined) return within(own, inner);
  const reached = fieldAt(parts.definitions, of, keys);
  if (reached === undefined || reached.field.writeOnly || own === undefined) return undefined;
  return within(ownValue(parts.referred?.get(`${group}.${key}`), reached.field.name), reached.inner);
}

/** Id and role are the principal's own, whatever its attributes claim. */
function userValue({ principal, definitions }: ScopeParts, key: string | undefined): Value {
  if (key === 'id') return principal.id;
  if (key === 'role') return principal.role;
  if (key === undefined || definitions.get('User')?.fields.get(key)?.writeOnly === true) return undefined;
  return ownValue(principal.attributes, key);
}

function recordValue({ resource, record, recordId }: ScopeParts, key: string | undefined): Value {
  if (key === undefined) return undefined;
  const field = resource.fields.get(key);
  if (field === undefined) return key === 'name' ? resource.name : key === 'id' ? recordId : undefined;
  if (field.writeOnly) return undefined;
  const value = record === OPEN ? OPEN : ownValue(record, key);
  return key === 'id' && recordId !== undefined && (value === undefined || value === OPEN) ? recordId : value;
}

function environmentValue({ now, timeZone, origin }: ScopeParts, key: string | undefined): Value {
  return key === undefined ? undefined : toEnvironment(key, { now, timeZone, ip: origin.ip });
}

function requestValue({ origin, action, resource, data }: ScopeParts, key: string | undefined): Value {
  switch (key) {
    case 'method':
      return origin.method;
    case 'path':
      return origin.path;
    case 'ip':
      return origin.ip;
    case 'action':
      return action;
    case 'data':
      return withoutSecrets(resource, data);
    default:
      return undefined;
  }
}

/** Follows keys into plain objects; a list's items and length are no attributes. */
function within(value: Value, keys: readonly string[]): Value {
  let at = value;
  for (const key of keys) {
    if (at === OPEN) return OPEN;
    at = Array.isArray(at) ? undefined : ownValue(at, key);
  }
  return at;
}

function fieldKindAt(definitions: Definitions, resource: Resource | undefined, keys: readonly string[]): PathKind | undefined {
  const reached = resource && fieldAt(definitions, resource, keys);
  return reached === undefined || reached.inner.length > 0 ? undefined : fieldKind(reached.field);
}

function textWhere(keys: readonly string[], ...names: readonly string[]): PathKind | undefined {
  return keys.length === 1 && names.includes(keys[0] ?? '') ? { kind: 'text' } : undefined;
}

function knownKind(kinds: ReadonlyMap<string, PathKind['kind']>, keys: readonly string[]): PathKind | undefined {
  const kind = keys.length === 1 ? kinds.get(keys[0] ?? '') : undefined;
  return kind === undefined ? undefined : toPathKind(kind);
}

/** The same scope with some paths left open besides the record's: what a decision then depends on stays in its condition. */
export function leaveOpen(scope: Scope, isOpen: (path: Path) => boolean): Scope {
  return Object.freeze({ ...scope, valueOf: (path: Path) => (isOpen(path) ? OPEN : scope.valueOf(path)) });
}

/** What each value of `request.…` compares as; `request.data` is whatever was sent. */
export const REQUEST_KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['method', 'text'],
  ['path', 'text'],
  ['ip', 'text'],
  ['action', 'text'],
]);

/** What a request sends, without the secrets in it: what conditions read ends in traces and on the record. */
export function withoutSecrets(resource: Resource, data: Json | undefined): Json | undefined {
  if (typeof data !== 'object' || data === null) return data;
  const secret = new Set([...resource.fields.values()].filter((field) => field.writeOnly).map((field) => field.name));
  if (secret.size === 0) return data;
  if (Array.isArray(data)) return data.map((item: Json) => withoutSecrets(resource, item) ?? null);
  return Object.fromEntries(Object.entries(data as JsonObject).filter(([name]) => !secret.has(name)));
}
