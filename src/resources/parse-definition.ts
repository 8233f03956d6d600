import { createHash } from 'node:crypto';
import { RULE_ACTIONS } from '../actions.ts';
import type { Field } from '../fields/index.ts';
import { describeValue, isObject, type Json, type JsonObject } from '../operators/index.ts';
import { automaticFields } from './automatic-fields.ts';
import { collectMistakes, type DefinitionMistake, describeType, type Report } from './definition-mistake.ts';
import { quote, suggest, validateFieldName, validateNewFieldName, validateResourceName } from './definition-names.ts';
import { parseField } from './parse-field.ts';
import { parseIndexes } from './parse-indexes.ts';
import type { Resource } from './resource.ts';

const MEMBERS = ['name', 'description', 'renamedFrom', 'fields', 'indexes', 'softDelete', 'permissions'];
/** Of our own tables alone. */
const OWN_MEMBERS = [...MEMBERS, 'partitionBy'];
const MOST_FIELDS = 200;
const LONGEST_DESCRIPTION = 2000;

/** Whose definition it is. */
export interface DefinitionOptions {
  /**
   * One of our own definitions, or one that was accepted before: names may begin with `_`, which makes the resource
   * internal and spares it the automatic fields beside `id`, and fields may be `guarded`.
   */
  readonly builtIn?: boolean;
}

/** A definition made into a resource, or what is wrong with it. */
export interface ParsedDefinition {
  /** Undefined where there are mistakes. */
  readonly resource: Resource | undefined;
  readonly mistakes: readonly DefinitionMistake[];
}

/** Reads one definition; every mistake in it is listed. What concerns other resources is checked by `checkReferences`. */
export function parseDefinition(source: Json, options: DefinitionOptions = {}): ParsedDefinition {
  const { mistakes, report } = collectMistakes();
  if (!isObject(source)) {
    report([], `expected an object with name and fields, given ${describeType(source)}`);
    return { resource: undefined, mistakes };
  }
  const builtIn = options.builtIn === true;
  const members = builtIn && String(source['name']).startsWith('_') ? OWN_MEMBERS : MEMBERS;
  for (const member of Object.keys(source)) {
    if (!members.includes(member)) report([member], `unknown member ${quote(member)}${suggest(member, members)}`, 'key');
  }
  const name = readName(source, builtIn, report);
  const description = readDescription(source['description'], report);
  const renamedFrom = readRenamedFrom(source['renamedFrom'], name, report);
  const internal = name.startsWith('_');
  const softDelete = readSoftDelete(source['softDelete'], internal, report);
  const fields = readFields(source['fields'], { builtIn, internal, softDelete }, report);
  const indexes = parseIndexes(source['indexes'], { fields, softDelete, declared: declaredNames(source['fields']) }, report);
  const partitionBy = readPartitionBy(source['partitionBy'], fields, report);
  const permissions = parsePermissions(source['permissions'], report);
  if (mistakes.length > 0) return { resource: undefined, mistakes };
  const parts = { name, fields, indexes, softDelete, partitionBy };
  const resource = {
    ...parts,
    description,
    renamedFrom,
    permissions,
    internal,
    source: deepFreeze(structuredClone(source)),
    hash: hashDefinition(parts),
  };
  return { resource: Object.freeze(resource), mistakes };
}

function readName(source: JsonObject, builtIn: boolean, report: Report): string {
  const name = source['name'];
  if (typeof name !== 'string') {
    report(name === undefined ? [] : ['name'], `expected a name, given ${describeValue(name)}`);
    return '';
  }
  const wrong = validateResourceName(name, { builtIn });
  if (wrong !== undefined) report(['name'], wrong);
  return name;
}

function readDescription(value: Json | undefined, report: Report): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value.length <= LONGEST_DESCRIPTION) return value;
  report(['description'], `expected a text of at most ${LONGEST_DESCRIPTION} characters, given ${describeType(value)}`);
  return undefined;
}

function readRenamedFrom(value: Json | undefined, name: string, report: Report): string | undefined {
  if (value === undefined) return undefined;
  const wrong =
    typeof value === 'string' ? validateResourceName(value, { builtIn: false }) : `expected a name, given ${describeValue(value)}`;
  if (wrong !== undefined) report(['renamedFrom'], wrong);
  else if (value === name) report(['renamedFrom'], 'expected the name it had before, given the one it has');
  return typeof value === 'string' ? value : undefined;
}

function readSoftDelete(value: Json | undefined, internal: boolean, report: Report): boolean {
  if (value === undefined || typeof value === 'boolean') {
    if (value === true && internal) report(['softDelete'], 'expected none: what is deleted of our own tables is gone');
    return value ?? false;
  }
  report(['softDelete'], `expected true or false, given ${describeValue(value)}`);
  return false;
}

function readPartitionBy(value: Json | undefined, fields: ReadonlyMap<string, Field>, report: Report): string | undefined {
  if (value === undefined) return undefined;
  const field = typeof value === 'string' ? fields.get(value) : undefined;
  if (field?.type === 'timestamp' && field.required) return field.name;
  report(['partitionBy'], `expected the name of a required timestamp, given ${describeValue(value)}`);
  return undefined;
}

interface Owner extends Pick<Resource, 'internal' | 'softDelete'> {
  readonly builtIn: boolean;
}

function readFields(source: Json | undefined, owner: Owner, report: Report): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>(automaticFields(owner));
  if (!isObject(source)) {
    report(source === undefined ? [] : ['fields'], `expected fields, an object of field names and fields, given ${describeType(source)}`);
    return fields;
  }
  const names = Object.keys(source);
  if (names.length === 0) report(['fields'], 'expected at least one field');
  if (names.length > MOST_FIELDS) {
    report(['fields'], `expected at most ${MOST_FIELDS} fields, given ${names.length}`);
    return fields;
  }
  const taken = new Map([...fields.keys()].map((name) => [name.toLowerCase(), name]));
  for (const [name, value] of Object.entries(source)) {
    const path = ['fields', name];
    const wrong = (owner.builtIn ? validateFieldName(name) : validateNewFieldName(name)) ?? checkTwin(name, taken, fields);
    if (wrong !== undefined) report(path, wrong, 'key');
    taken.set(name.toLowerCase(), name);
    const field = parseField(value, { name, path, builtIn: owner.builtIn }, report);
    if (field !== undefined && wrong === undefined) fields.set(name, field);
  }
  // What was accepted before is not refused now.
  checkRenames(source, owner.builtIn ? new Set() : new Set(automaticFields(owner).keys()), report);
  return fields;
}

// Columns differ by more than case in no database that we speak to.
function checkTwin(name: string, taken: ReadonlyMap<string, string>, automatic: ReadonlyMap<string, Field>): string | undefined {
  const twin = taken.get(name.toLowerCase());
  if (twin === undefined) return undefined;
  if (twin === name && automatic.has(name)) return `expected another name: every record has "${name}" by itself`;
  return `expected another name: it differs from "${twin}" only in case`;
}

function checkRenames(fields: JsonObject, automatic: ReadonlySet<string>, report: Report): void {
  const claimed = new Set<string>();
  for (const [name, field] of Object.entries(fields)) {
    const from = isObject(field) ? field['renamedFrom'] : undefined;
    if (typeof from !== 'string') continue;
    const path = ['fields', name, 'renamedFrom'];
    const wrong = validateFieldName(from);
    if (wrong !== undefined) report(path, wrong);
    else if (Object.hasOwn(fields, from) || automatic.has(from))
      report(path, `expected a name that no field has any more, given ${quote(from)}`);
    else if (claimed.has(from)) report(path, `expected a name that one field comes from, given ${quote(from)} again`);
    claimed.add(from);
  }
}

// A field with mistakes is missing from what could be read; that is said where it stands, and only there.
function declaredNames(fields: Json | undefined): ReadonlySet<string> {
  return new Set(isObject(fields) ? Object.keys(fields) : []);
}

function deepFreeze<Value extends Json>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

/**
 * SHA-256 over what storage and checks depend on. Descriptions, the order of fields, the legacy permissions and a
 * `renamedFrom` (whose new name says it already) are left out: changing them changes no table and no answer.
 */
export function hashDefinition({
  name,
  fields,
  indexes,
  softDelete,
  partitionBy,
}: Pick<Resource, 'name' | 'fields' | 'indexes' | 'softDelete' | 'partitionBy'>): string {
  const sorted = [...fields.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(withoutWords);
  return createHash('sha256')
    .update(toStableText({ name, fields: sorted, indexes, ...(softDelete && { softDelete }), partitionBy }))
    .digest('hex');
}

function withoutWords({ description: _description, renamedFrom: _renamedFrom, of, ...field }: Field): object {
  return of === undefined ? field : { ...field, of: withoutWords(of) };
}

// JSON with members in the order of their names, so that how a definition is laid out does not matter.
function toStableText(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** Reads the legacy `permissions` of a definition: action name → roles. */
export function parsePermissions(source: Json | undefined, report: Report): ReadonlyMap<string, readonly string[]> {
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
    else permissions.set(action, readRoles(roles, path, report));
  }
  return permissions;
}

function readRoles(roles: readonly Json[], path: readonly string[], report: Report): readonly string[] {
  const known: readonly string[] = ASSIGNABLE_ROLES;
  for (const [at, role] of roles.entries()) {
    if (typeof role === 'string' && known.includes(role)) continue;
    report([...path, at], `unknown role ${describeValue(role)}${suggest(String(role), known)}`);
  }
  return Object.freeze([...new Set(roles.map(String))]);
}

/** Roles that a user may have in a project, and that policies can be assigned to. */
export const ASSIGNABLE_ROLES = ['anon', 'user', 'admin', 'moderator', 'viewer', 'editor'] as const;
export type AssignableRole = (typeof ASSIGNABLE_ROLES)[number];
