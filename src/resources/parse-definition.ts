import { createHash } from 'node:crypto';
import { RULE_ACTIONS } from '../actions.ts';
import type { Field } from '../fields/index.ts';
import { describeValue, isObject, type Json, type JsonObject } from '../operators/index.ts';
import { automaticFields } from './automatic-fields.ts';
import { collectMistakes, type DefinitionMistake, describeType, type Report } from './definition-mistake.ts';
import { quote, suggest, validateFieldName, validateNewFieldName, validateResourceName } from './definition-names.ts';
import { findHierarchy } from './hierarchy.ts';
import { parseField } from './parse-field.ts';
import { parseIndexes } from './parse-indexes.ts';
import type { Resource } from './resource.ts';

const MEMBERS = ['name', 'description', 'renamedFrom', 'fields', 'indexes', 'softDelete', 'checksum', 'permissions'];
/** Members of definitions of system tables. */
const SYSTEM_MEMBERS = [...MEMBERS, 'partitionBy'];
const MAX_FIELDS = 200;
const MAX_DESCRIPTION = 2000;

/** The origin of a definition. */
export interface DefinitionOptions {
  /**
   * Set for system definitions and for definitions that were accepted before. Names can begin with `_`, which makes the resource internal
   * and leaves only the automatic field `id`; fields can be `guarded`.
   */
  readonly builtIn?: boolean;
}

/** A parsed definition, or its mistakes. */
export interface ParsedDefinition {
  /** Undefined if there are mistakes. */
  readonly resource: Resource | undefined;
  readonly mistakes: readonly DefinitionMistake[];
}

/** Parses a definition and lists every mistake in it. `findUnknownReferences` validates references to other resources. */
export function parseDefinition(source: Json, options: DefinitionOptions = {}): ParsedDefinition {
  const { mistakes, report } = collectMistakes();
  if (!isObject(source)) {
    report([], `expected an object with name and fields, given ${describeType(source)}`);
    return { resource: undefined, mistakes };
  }
  const builtIn = options.builtIn === true;
  const members = builtIn && String(source['name']).startsWith('_') ? SYSTEM_MEMBERS : MEMBERS;
  for (const member of Object.keys(source)) {
    if (!members.includes(member)) report([member], `unknown member ${quote(member)}${suggest(member, members)}`, 'key');
  }
  const name = parseName(source, builtIn, report);
  const description = parseDescription(source['description'], report);
  const renamedFrom = parseRenamedFrom(source['renamedFrom'], name, report);
  const internal = name.startsWith('_');
  const softDelete = parseFlag(
    source,
    { name: 'softDelete', refusal: internal ? 'system tables have no soft deletes' : undefined },
    report,
  );
  const noChecksum = name === 'User' ? 'users always have checksums' : internal ? 'system tables have columns for checksums' : undefined;
  const checksum = parseFlag(source, { name: 'checksum', refusal: noChecksum }, report);
  const fields = parseFields(source['fields'], { builtIn, internal, softDelete }, report);
  const hierarchy = findHierarchy(name, fields, report);
  const indexes = parseIndexes(source['indexes'], { fields, softDelete, declared: declaredNames(source['fields']) }, report);
  const partitionBy = parsePartitionBy(source['partitionBy'], fields, report);
  const permissions = parsePermissions(source['permissions'], report);
  if (mistakes.length > 0) return { resource: undefined, mistakes };
  const parts = { name, fields, indexes, softDelete, checksum, partitionBy };
  const resource = {
    ...parts,
    description,
    renamedFrom,
    permissions,
    ...(hierarchy !== undefined && { hierarchy }),
    internal,
    source: deepFreeze(structuredClone(source)),
    hash: hashDefinition(parts),
  };
  return { resource: Object.freeze(resource), mistakes };
}

function parseName(source: JsonObject, builtIn: boolean, report: Report): string {
  const name = source['name'];
  if (typeof name !== 'string') {
    report(name === undefined ? [] : ['name'], `expected a name, given ${describeValue(name)}`);
    return '';
  }
  const wrong = validateResourceName(name, { builtIn });
  if (wrong !== undefined) report(['name'], wrong);
  return name;
}

function parseDescription(value: Json | undefined, report: Report): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value.length <= MAX_DESCRIPTION) return value;
  report(['description'], `expected a text of at most ${MAX_DESCRIPTION} characters, given ${describeType(value)}`);
  return undefined;
}

function parseRenamedFrom(value: Json | undefined, name: string, report: Report): string | undefined {
  if (value === undefined) return undefined;
  const wrong =
    typeof value === 'string' ? validateResourceName(value, { builtIn: false }) : `expected a name, given ${describeValue(value)}`;
  if (wrong !== undefined) report(['renamedFrom'], wrong);
  else if (value === name) report(['renamedFrom'], 'expected the previous name, given the current name');
  return typeof value === 'string' ? value : undefined;
}

/** Parses an option that is true or false. `refusal` says why it cannot be true here. */
function parseFlag(
  source: JsonObject,
  { name, refusal }: { readonly name: 'softDelete' | 'checksum'; readonly refusal: string | undefined },
  report: Report,
): boolean {
  const value = source[name];
  if (value === true && refusal !== undefined) report([name], `expected none: ${refusal}`);
  if (value === undefined || typeof value === 'boolean') return value ?? false;
  report([name], `expected true or false, given ${describeValue(value)}`);
  return false;
}

function parsePartitionBy(value: Json | undefined, fields: ReadonlyMap<string, Field>, report: Report): string | undefined {
  if (value === undefined) return undefined;
  const field = typeof value === 'string' ? fields.get(value) : undefined;
  if (field?.type === 'timestamp' && field.required) return field.name;
  report(['partitionBy'], `expected the name of a required timestamp, given ${describeValue(value)}`);
  return undefined;
}

interface Owner extends Pick<Resource, 'internal' | 'softDelete'> {
  readonly builtIn: boolean;
}

function parseFields(source: Json | undefined, owner: Owner, report: Report): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>(automaticFields(owner));
  if (!isObject(source)) {
    report(source === undefined ? [] : ['fields'], `expected fields, an object of field names and fields, given ${describeType(source)}`);
    return fields;
  }
  const names = Object.keys(source);
  if (names.length === 0) report(['fields'], 'expected at least one field');
  if (names.length > MAX_FIELDS) {
    report(['fields'], `expected at most ${MAX_FIELDS} fields, given ${names.length}`);
    return fields;
  }
  const taken = new Map([...fields.keys()].map((name) => [name.toLowerCase(), name]));
  for (const [name, value] of Object.entries(source)) {
    const path = ['fields', name];
    const wrong = (owner.builtIn ? validateFieldName(name) : validateNewFieldName(name)) ?? validateCase(name, taken, fields);
    if (wrong !== undefined) report(path, wrong, 'key');
    taken.set(name.toLowerCase(), name);
    const field = parseField(value, { name, path, builtIn: owner.builtIn }, report);
    if (field !== undefined && wrong === undefined) fields.set(name, field);
  }
  // A definition that was accepted before stays valid, so the names of its automatic fields are not refused.
  validateRenames(source, owner.builtIn ? new Set() : new Set(automaticFields(owner).keys()), report);
  return fields;
}

// Column names are not case-sensitive in SQLite.
function validateCase(name: string, taken: ReadonlyMap<string, string>, automatic: ReadonlyMap<string, Field>): string | undefined {
  const twin = taken.get(name.toLowerCase());
  if (twin === undefined) return undefined;
  if (twin === name && automatic.has(name)) return `expected another name: every record has the automatic field "${name}"`;
  return `expected another name: it differs from "${twin}" only in case`;
}

function validateRenames(fields: JsonObject, automatic: ReadonlySet<string>, report: Report): void {
  const claimed = new Set<string>();
  for (const [name, field] of Object.entries(fields)) {
    const from = isObject(field) ? field['renamedFrom'] : undefined;
    if (typeof from !== 'string') continue;
    const path = ['fields', name, 'renamedFrom'];
    const wrong = validateFieldName(from);
    if (wrong !== undefined) report(path, wrong);
    else if (Object.hasOwn(fields, from) || automatic.has(from))
      report(path, `expected a name that no field has now, given ${quote(from)}`);
    else if (claimed.has(from)) report(path, `expected each previous name once, given ${quote(from)} again`);
    claimed.add(from);
  }
}

// Includes fields with mistakes, so that an index over them is not reported too.
function declaredNames(fields: Json | undefined): ReadonlySet<string> {
  return new Set(isObject(fields) ? Object.keys(fields) : []);
}

function deepFreeze<Value extends Json>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

/**
 * Hashes the parts of a definition that storage and validation depend on. Excludes descriptions, the order of fields, legacy permissions and
 * `renamedFrom`, which do not change tables or responses.
 */
function hashDefinition({
  name,
  fields,
  indexes,
  softDelete,
  checksum,
  partitionBy,
}: Pick<Resource, 'name' | 'fields' | 'indexes' | 'softDelete' | 'checksum' | 'partitionBy'>): string {
  const sorted = [...fields.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(withoutTexts);
  const options = { ...(softDelete && { softDelete }), ...(checksum && { checksum }) };
  return createHash('sha256')
    .update(toStableText({ name, fields: sorted, indexes, ...options, partitionBy }))
    .digest('hex');
}

function withoutTexts({ description: _description, renamedFrom: _renamedFrom, of, ...field }: Field): object {
  return of === undefined ? field : { ...field, of: withoutTexts(of) };
}

// JSON with sorted members, so that the layout of a definition does not matter.
function toStableText(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** Parses the legacy `permissions` of a definition: action name → roles. */
function parsePermissions(source: Json | undefined, report: Report): ReadonlyMap<string, readonly string[]> {
  const permissions = new Map<string, readonly string[]>();
  if (source === undefined) return permissions;
  if (!isObject(source)) {
    report(['permissions'], `expected an object of action names and lists of roles, given ${describeType(source)}`);
    return permissions;
  }
  for (const [action, roles] of Object.entries(source)) {
    const path = ['permissions', action];
    if (!(RULE_ACTIONS as readonly string[]).includes(action)) {
      report(path, `unknown action ${quote(action)}${suggest(action, RULE_ACTIONS)}`, 'key');
    }
    if (!Array.isArray(roles)) report(path, `expected a list of roles, given ${describeType(roles)}`);
    else permissions.set(action, parseRoles(roles, path, report));
  }
  return permissions;
}

function parseRoles(roles: readonly Json[], path: readonly string[], report: Report): readonly string[] {
  const known: readonly string[] = ASSIGNABLE_ROLES;
  for (const [at, role] of roles.entries()) {
    if (typeof role === 'string' && known.includes(role)) continue;
    report([...path, at], `unknown role ${describeValue(role)}${suggest(String(role), known)}`);
  }
  return Object.freeze([...new Set(roles.map(String))]);
}

/** The roles that users can have and policies can be assigned to. */
export const ASSIGNABLE_ROLES = ['anon', 'user', 'admin', 'moderator', 'viewer', 'editor'] as const;
export type AssignableRole = (typeof ASSIGNABLE_ROLES)[number];
