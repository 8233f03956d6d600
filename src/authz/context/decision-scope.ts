/**
 * The decision scope: the values that conditions read (principal, record, environment, request), and their kinds.
 * A scope is created from a real request, or from one to which an admin applies a hypothesis to test access.
 */
import type { RuleAction } from '../../actions.ts';
import { type ContextGroup, type Path, type PathKind, type RelatedLookup, type Scope, UNRESOLVED } from '../../conditions/index.ts';
import { type Json, type JsonObject, type Kind, ownValue } from '../../operators/index.ts';
import type { RequestOrigin } from '../../request/index.ts';
import { type Definitions, fieldAt, kindAt, type Resource, targetName } from '../../resources/index.ts';
import { ENVIRONMENT_KINDS, toEnvironmentValue, toPathKind } from './environment.ts';
import type { ReferencedRecords, RelatedRecords } from './reached-records.ts';
import { toRelatedLookup } from './related-lookup.ts';

/** The caller of a request. */
export interface Principal {
  /** User id: `<issuer>|<subject>` for an identity of a trusted issuer, undefined for `anon`. */
  readonly id?: string | undefined;
  readonly role: string;
  /** The other values of `user.…`: the stored fields that are not secret, or the claims of a trusted token. */
  readonly attributes: JsonObject;
}

/** Members of `user.…` in addition to the fields of User. `issuer` and `subject` are missing for local users. */
export const IDENTITY_NAMES: readonly string[] = Object.freeze(['id', 'role', 'issuer', 'subject']);

/** The caller of a request without a token. */
export const ANON: Principal = Object.freeze({ role: 'anon', attributes: Object.freeze({}) });

/** The values from which a scope is created. */
export interface ScopeInput {
  readonly principal: Principal;
  readonly action: RuleAction;
  readonly resource: Resource;
  /** UNRESOLVED if the record is not known yet (a list); undefined if it does not exist, so it has no attributes. */
  readonly record: JsonObject | typeof UNRESOLVED | undefined;
  /** Id of the record in the request, used if `record` has no id. */
  readonly recordId?: string | undefined;
  readonly origin: Pick<RequestOrigin, 'method' | 'path' | 'ip'>;
  /** Body of the request. */
  readonly data?: Json | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** IANA name of the time zone of the service. */
  readonly timeZone: string;
  /** Definitions of the resources. They give the kinds and the secret fields of `user.…` and of referenced records. */
  readonly definitions: Definitions;
  readonly referenced?: ReferencedRecords | undefined;
  /** The related records; absent if no condition counts any. */
  readonly related?: RelatedRecords | undefined;
}

type Value = Json | undefined | typeof UNRESOLVED;

/**
 * Creates the scope in which conditions are evaluated. `resource.name` is the field `name` of the record if the resource has one
 * (as in the filter of a list), and the name of the resource otherwise.
 */
export function createScope(input: ScopeInput): Scope {
  // Consecutive rules often read the same path.
  let last: Path | undefined;
  let value: Value;
  // Not frozen: a scope is created for every decision, and freezing it is slow.
  return {
    now: input.now,
    timeZone: input.timeZone,
    valueOf(path: Path): Value {
      if (path !== last) {
        value = path.group === 'related' ? undefined : valueIn[path.group](input, path.keys);
        last = path;
      }
      return value;
    },
    kindOf: ({ group, keys }: Path): PathKind | undefined => (group === 'related' ? undefined : kindIn[group](input, keys)),
    related: input.related === undefined ? undefined : relatedOf(input, input.related),
    kindsFrom: input,
  };
}

/** Returns the related records of a scope. The decided record is not one of them. */
function relatedOf({ definitions, resource, record, recordId }: ScopeInput, records: RelatedRecords): RelatedLookup {
  const stored = record === UNRESOLVED ? undefined : ownValue(record, 'id');
  const id = typeof stored === 'string' ? stored : recordId;
  return toRelatedLookup({ records, definitions, resource: resource.name, own: record === UNRESOLVED ? (id ?? UNRESOLVED) : id });
}

const valueIn: Readonly<Record<ContextGroup, (input: ScopeInput, keys: readonly string[]) => Value>> = {
  user: (input, keys) =>
    keys.length === 1
      ? userValue(input, keys[0])
      : fieldValue(input, { group: 'user', of: input.definitions.get('User'), keys }, userValue),
  resource: (input, keys) =>
    keys.length === 1 ? recordValue(input, keys[0]) : fieldValue(input, { group: 'resource', of: input.resource, keys }, recordValue),
  environment: (input, [key, ...inner]) => valueAt(environmentValue(input, key), inner),
  request: (input, [key, ...inner]) => valueAt(requestValue(input, key), inner),
};

const kindIn: Readonly<Record<ContextGroup, (input: ScopeInput, keys: readonly string[]) => PathKind | undefined>> = {
  user: ({ definitions }, keys) => fieldKindAt(definitions, definitions.get('User'), keys) ?? textKindOf(keys, ...IDENTITY_NAMES),
  resource: ({ definitions, resource }, keys) => fieldKindAt(definitions, resource, keys) ?? textKindOf(keys, 'id', 'name'),
  environment: (_, keys) => kindFrom(ENVIRONMENT_KINDS, keys),
  request: (_, keys) => kindFrom(REQUEST_KINDS, keys),
};

interface FieldPath {
  readonly group: 'user' | 'resource';
  readonly of: Resource | undefined;
  readonly keys: readonly string[];
}

type ReadOwnValue = (input: ScopeInput, key: string | undefined) => Value;

/** Returns a value inside a field of `of`, or a field of the record that the references of the path lead to. */
function fieldValue(input: ScopeInput, { group, of, keys }: FieldPath, readOwn: ReadOwnValue): Value {
  const [key, ...inner] = keys;
  const own = readOwn(input, key);
  const field = of?.fields.get(key ?? '');
  if (own === UNRESOLVED || of === undefined || field === undefined || targetName(field) === undefined) return valueAt(own, inner);
  const reached = fieldAt(input.definitions, of, keys);
  if (reached === undefined || reached.field.writeOnly || own === undefined) return undefined;
  const record = input.referenced?.get([group, ...reached.via.map((followed) => followed.field.name)].join('.'));
  return valueAt(ownValue(record, reached.field.name), reached.inner);
}

/** Returns an attribute of the principal. `id` and `role` never come from claims. */
function userValue({ principal, definitions }: ScopeInput, key: string | undefined): Value {
  if (key === 'id') return principal.id;
  if (key === 'role') return principal.role;
  if (key === undefined || definitions.get('User')?.fields.get(key)?.writeOnly === true) return undefined;
  return ownValue(principal.attributes, key);
}

function recordValue({ resource, record, recordId }: ScopeInput, key: string | undefined): Value {
  if (key === undefined) return undefined;
  const field = resource.fields.get(key);
  if (field === undefined) return key === 'name' ? resource.name : key === 'id' ? recordId : undefined;
  if (field.writeOnly) return undefined;
  const value = record === UNRESOLVED ? UNRESOLVED : ownValue(record, key);
  return key === 'id' && recordId !== undefined && (value === undefined || value === UNRESOLVED) ? recordId : value;
}

function environmentValue({ now, timeZone, origin }: ScopeInput, key: string | undefined): Value {
  return key === undefined ? undefined : toEnvironmentValue(key, { now, timeZone, ip: origin.ip });
}

function requestValue({ origin, action, resource, data }: ScopeInput, key: string | undefined): Value {
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

/** Follows keys into plain objects. The items and the length of a list cannot be read. */
function valueAt(value: Value, keys: readonly string[]): Value {
  let at = value;
  for (const key of keys) {
    if (at === UNRESOLVED) return UNRESOLVED;
    at = Array.isArray(at) ? undefined : ownValue(at, key);
  }
  return at;
}

function fieldKindAt(definitions: Definitions, resource: Resource | undefined, keys: readonly string[]): PathKind | undefined {
  const reached = resource && fieldAt(definitions, resource, keys);
  return reached === undefined || reached.inner.length > 0 ? undefined : kindAt(definitions, reached);
}

function textKindOf(keys: readonly string[], ...names: readonly string[]): PathKind | undefined {
  return keys.length === 1 && names.includes(keys[0] ?? '') ? { kind: 'text' } : undefined;
}

function kindFrom(kinds: ReadonlyMap<string, PathKind['kind']>, keys: readonly string[]): PathKind | undefined {
  const kind = keys.length === 1 ? kinds.get(keys[0] ?? '') : undefined;
  return kind === undefined ? undefined : toPathKind(kind);
}

/**
 * Returns a scope in which the paths that `isOpen` selects are UNRESOLVED. A decision that depends on such a path keeps the path in its
 * residual condition.
 */
export function leaveOpen(scope: Scope, isOpen: (path: Path) => boolean): Scope {
  return Object.freeze({ ...scope, valueOf: (path: Path) => (isOpen(path) ? UNRESOLVED : scope.valueOf(path)) });
}

/** Kinds of the members of `request.…`. `request.data` has none: it is JSON as sent. */
export const REQUEST_KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['method', 'text'],
  ['path', 'text'],
  ['ip', 'text'],
  ['action', 'text'],
]);

/** Removes secret fields from the body of a request: values that conditions read appear in traces and in the audit log. */
function withoutSecrets(resource: Resource, data: Json | undefined): Json | undefined {
  if (typeof data !== 'object' || data === null) return data;
  const secret = new Set([...resource.fields.values()].filter((field) => field.writeOnly).map((field) => field.name));
  if (secret.size === 0) return data;
  if (Array.isArray(data)) return data.map((item: Json) => withoutSecrets(resource, item) ?? null);
  return Object.fromEntries(Object.entries(data as JsonObject).filter(([name]) => !secret.has(name)));
}

/** Values with which an admin tests access. They replace the values of the request and of the stored records. */
export interface Hypothesis {
  /** `id`, `role`, `email` and any further attributes. */
  readonly user?: JsonObject | undefined;
  /** `id` and fields of the record. */
  readonly resource?: JsonObject | undefined;
  /** Milliseconds since 1970. Every value of `environment.…` except `ip` is derived from it. */
  readonly now?: number | undefined;
  readonly ip?: string | undefined;
}

/** Replaces values of a scope with those of a hypothesis. */
export function applyHypothesis(input: ScopeInput, { user, resource, now, ip }: Hypothesis): ScopeInput {
  return {
    ...input,
    principal: user === undefined ? input.principal : replacePrincipal(input.principal, user),
    ...(resource === undefined ? {} : replaceRecord(input, resource)),
    now: now ?? input.now,
    origin: { ...input.origin, ip: ip ?? input.origin.ip },
  };
}

function replacePrincipal(principal: Principal, user: JsonObject): Principal {
  const [id, role] = [ownValue(user, 'id'), ownValue(user, 'role')];
  return {
    id: typeof id === 'string' ? id : principal.id,
    role: typeof role === 'string' ? role : principal.role,
    attributes: { ...principal.attributes, ...user },
  };
}

function replaceRecord({ record, recordId }: ScopeInput, given: JsonObject): Pick<ScopeInput, 'record' | 'recordId'> {
  const id = ownValue(given, 'id');
  return {
    record: { ...(record === UNRESOLVED ? {} : record), ...given },
    recordId: typeof id === 'string' ? id : recordId,
  };
}
