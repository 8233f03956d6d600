import { describeValue, isObject, type Json, type JsonObject } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES, collectMistakes, type ParsedDefinition, parseDefinition, type Report } from '../index.ts';

/** Roles that users have unless a project's own `User` file adds others of the assignable ones. */
export const USER_ROLES = ['anon', 'user', 'admin'] as const;

/** Who can log in. Public: reached through the generic routes like any resource, and decided like any. */
export const USER: JsonObject = {
  name: 'User',
  description: 'A person or program that can log in.',
  fields: {
    name: { type: 'string', maxLength: 200, description: 'As shown to others.' },
    email: { type: 'email', required: true, unique: true, description: 'The name to log in with.' },
    password: { type: 'password', description: 'Without one, nobody can log in as the user.' },
    role: { type: 'enum', values: USER_ROLES, default: 'user', required: true, guarded: true, index: true },
    isActive: {
      type: 'boolean',
      default: true,
      required: true,
      guarded: true,
      description: 'Whether the user may log in and use the tokens given before.',
    },
  },
};

const BUILT_IN = USER['fields'] as Readonly<Record<string, JsonObject>>;

/**
 * Reads a project's own `User` file as an addition to the built-in one: it may add fields, indexes, roles, a
 * description and permissions, and take nothing away.
 */
export function readUser(source: JsonObject): ParsedDefinition {
  const { mistakes, report } = collectMistakes();
  const given = source['fields'];
  // Their entries, assignments and sessions are about them by id: a user who is back would find what nobody meant to give back.
  if (source['softDelete'] === true) report(['softDelete'], 'expected none: users are not deleted softly but deactivated, with isActive');
  const added = isObject(given) ? Object.entries(given).map(([name, field]) => [name, readAddition(name, field, report)] as const) : [];
  // From entries: a field that a file calls `__proto__` stays a field, and is refused like any wrong name.
  const fields = { ...BUILT_IN, ...Object.fromEntries(added) };
  // Fields that are no object stay as they are, so that this is reported once, where everything else is.
  const merged = { ...USER, ...source, ...(given === undefined || isObject(given) ? { fields } : {}) };
  const read = parseDefinition(merged, { builtIn: true });
  const all = [...mistakes, ...read.mistakes];
  return { resource: all.length > 0 ? undefined : read.resource, mistakes: all };
}

function readAddition(name: string, field: Json, report: Report): Json {
  const builtIn = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
  if (builtIn !== undefined) return extendField(builtIn, { name, field }, report);
  if (!isObject(field)) return field;
  const path = ['fields', name];
  if (name === 'currentPassword') report(path, 'expected another name: an update of a user takes currentPassword beside a new password');
  if (field['guarded'] !== undefined) report([...path, 'guarded'], 'unknown option "guarded"', 'key');
  // The first admin and every login know name, email and password alone.
  if (field['required'] === true && field['default'] === undefined) {
    report([...path, 'required'], 'expected a default beside it: setup could not create the first admin without one');
  }
  return field;
}

interface Extension {
  readonly name: string;
  readonly field: Json;
}

// What a project may say of a built-in field: its description, the roles it adds, and what holds already.
function extendField(builtIn: JsonObject, { name, field }: Extension, report: Report): JsonObject {
  const path = ['fields', name];
  if (!isObject(field)) {
    report(path, `expected what User.${name} is, or nothing, given ${describeValue(field)}`);
    return builtIn;
  }
  const extended: Record<string, Json> = { ...builtIn };
  for (const [option, value] of Object.entries(field)) {
    const at = [...path, option];
    if (option === 'description') extended[option] = value;
    else if (name === 'role' && option === 'values') extended[option] = extendRoles(value, at, report);
    else if (!Object.hasOwn(builtIn, option) || !isSame(builtIn[option], value)) {
      report(at, `expected no change of the built-in field ${name}, given ${describeValue(value)}`);
    }
  }
  return extended;
}

function extendRoles(values: Json, at: readonly string[], report: Report): Json {
  const roles: readonly Json[] = Array.isArray(values) ? values : [];
  const missing = USER_ROLES.filter((role) => !roles.includes(role));
  if (missing.length > 0) report(at, `expected ${USER_ROLES.join(', ')} among the roles, missing ${missing.join(', ')}`);
  for (const [index, role] of roles.entries()) {
    if (!(ASSIGNABLE_ROLES as readonly Json[]).includes(role)) {
      report([...at, String(index)], `expected one of ${ASSIGNABLE_ROLES.join(', ')}, given ${describeValue(role)}`);
    }
  }
  return missing.length > 0 ? [...USER_ROLES] : values;
}

function isSame(builtIn: Json | undefined, given: Json): boolean {
  return JSON.stringify(builtIn) === JSON.stringify(given);
}
