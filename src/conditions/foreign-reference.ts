/** References in the syntax of other products, which are valid texts but probably meant as references. */
import { isGroup } from './attribute-path.ts';

/** Maximum length of a reference, in characters. */
const LONGEST = 200;

/** Markers of references in other products: `$user.id`, `@request.auth.id`, `{{user.id}}`, `#{user.id}`, `$(user.id)`, `:user.id`. */
const DECORATED = /^(?:\$?\{\{|[$#@:%]\{?|\$\(|\{|<%=)\s*([A-Za-z_][\w.-]*)(?:\(\))?\s*(?:\}\}|[})%]|%>)?$/;
/** Markers of references inside a text: `owner-{{user.id}}`. */
const INSIDE = /\{\{\s*([A-Za-z_][\w.]*)\s*\}\}/;

/**
 * Names of the caller, the record and the time in other products, mapped to our names. A name that ends with a dot is the start of a
 * path.
 */
const NAMES: readonly (readonly [theirs: string, ours: string])[] = [
  ['request.auth.uid', 'user.id'],
  ['request.auth.', 'user.'],
  ['request.principal.attr.', 'user.'],
  ['request.principal.', 'user.'],
  ['request.resource.attr.', 'resource.'],
  ['request.resource.', 'resource.'],
  ['auth.uid', 'user.id'],
  ['auth.', 'user.'],
  ['principal.', 'user.'],
  ['subject.', 'user.'],
  ['p.attr.', 'user.'],
  ['p.', 'user.'],
  ['r.attr.', 'resource.'],
  ['r.', 'resource.'],
  ['record.', 'resource.'],
  ['current_user.', 'user.'],
  ['currentuser.', 'user.'],
  ['current_user', 'user.id'],
  ['current_role', 'user.role'],
  ['x-hasura-user-id', 'user.id'],
  ['x-hasura-role', 'user.role'],
  ['now', 'environment.timestamp'],
];

/** Names that are references without a marker. */
const PLAIN: ReadonlySet<string> = new Set(['request.auth.uid', 'auth.uid()', 'x-hasura-user-id', 'x-hasura-role']);

/**
 * Parses a reference in the syntax of another product to our path: `user.id` for `{{user.id}}` or `@request.auth.id`.
 * Returns undefined for other texts.
 */
export function parseForeignReference(text: string): string | undefined {
  if (text.length > LONGEST || text.includes('${')) return undefined;
  const trimmed = text.trim();
  const plain = trimmed.toLowerCase();
  const [, name] = DECORATED.exec(trimmed) ?? INSIDE.exec(trimmed) ?? (PLAIN.has(plain) ? [plain, plain.replace('()', '')] : []);
  return name === undefined ? undefined : toOurs(name);
}

function toOurs(name: string): string | undefined {
  const plain = name.toLowerCase();
  for (const [theirs, ours] of NAMES) {
    if (plain === theirs) return ours;
    if (theirs.endsWith('.') && plain.startsWith(theirs) && plain.length > theirs.length) return ours + name.slice(theirs.length);
  }
  const [group = '', ...keys] = name.split('.');
  return isGroup(group) && keys.length > 0 && keys.every((key) => key !== '') ? name : undefined;
}
