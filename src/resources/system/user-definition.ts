import { describeValue, isObject, type Json, type JsonObject } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES, collectMistakes, type ParsedDefinition, parseDefinition, type Report } from '../index.ts';

/** The default roles. The `User` file of a project may add other assignable roles. */
const USER_ROLES = ['anon', 'user', 'admin'] as const;

/** The built-in resource `User`. It is served by the generic routes and decided like any other resource. */
export const USER: JsonObject = {
  name: 'User',
  description: 'A person or program that can log in.',
  fields: {
    name: { type: 'string', maxLength: 200, description: 'The display name.' },
    email: { type: 'email', required: true, unique: true, description: 'The name to log in with.' },
    password: { type: 'password', description: 'A user without a password cannot log in.' },
    role: { type: 'enum', values: USER_ROLES, default: 'user', required: true, guarded: true, index: true },
    isActive: {
      type: 'boolean',
      default: true,
      required: true,
      guarded: true,
      description: 'If false, the user cannot log in, and existing tokens are refused.',
    },
  },
};

const BUILT_IN = USER['fields'] as Readonly<Record<string, JsonObject>>;

/**
 * Parses the `User` file of a project, which extends the built-in resource: it may add fields, indexes, roles, a description and
 * permissions, and may remove nothing.
 */
export function parseUserDefinition(source: JsonObject): ParsedDefinition {
  const { mistakes, report } = collectMistakes();
  const given = source['fields'];
  // Audit entries, assignments and sessions refer to users by id: a restored user would unintentionally get them back.
  if (source['softDelete'] === true) report(['softDelete'], 'expected no softDelete: deactivate users with isActive instead');
  const added = isObject(given) ? Object.entries(given).map(([name, field]) => [name, parseAddedField(name, field, report)] as const) : [];
  // `fromEntries` and not assignment: a field named `__proto__` stays a field, and is refused as an invalid name.
  const fields = { ...BUILT_IN, ...Object.fromEntries(added) };
  // Fields that are not an object are kept, so that `parseDefinition` reports them.
  const merged = { ...USER, ...source, ...(given === undefined || isObject(given) ? { fields } : {}) };
  const parsed = parseDefinition(merged, { builtIn: true });
  const all = [...mistakes, ...parsed.mistakes];
  return { resource: all.length > 0 ? undefined : parsed.resource, mistakes: all };
}

function parseAddedField(name: string, field: Json, report: Report): Json {
  const builtIn = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
  if (builtIn !== undefined) return extendField(builtIn, { name, field }, report);
  if (!isObject(field)) return field;
  const path = ['fields', name];
  if (name === 'currentPassword')
    report(path, 'expected another name: updates of a user accept currentPassword together with a new password');
  if (name === 'issuer' || name === 'subject')
    report(path, `expected another name: user.${name} is that of a token of a trusted issuer, and users could set this field`);
  if (field['guarded'] !== undefined) report([...path, 'guarded'], 'unknown option "guarded"', 'key');
  // Setup provides only name, email and password.
  if (field['required'] === true && field['default'] === undefined) {
    report([...path, 'required'], 'expected a default as well: without one, setup could not create the first admin');
  }
  return field;
}

interface Extension {
  readonly name: string;
  readonly field: Json;
}

// A project may change the description of a built-in field and add roles, and may repeat options unchanged.
function extendField(builtIn: JsonObject, { name, field }: Extension, report: Report): JsonObject {
  const path = ['fields', name];
  if (!isObject(field)) {
    report(path, `expected the definition of User.${name}, or nothing, given ${describeValue(field)}`);
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
      const fixed = 'these are all roles; to distinguish further, add a field to User, which conditions can read';
      report([...at, String(index)], `expected one of ${ASSIGNABLE_ROLES.join(', ')}, given ${describeValue(role)}: ${fixed}`);
    }
  }
  return missing.length > 0 ? [...USER_ROLES] : values;
}

function isSame(builtIn: Json | undefined, given: Json): boolean {
  return JSON.stringify(builtIn) === JSON.stringify(given);
}
