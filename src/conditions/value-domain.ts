import { didYouMean } from '../errors.ts';
import { describeValue, type Json } from '../operators/index.ts';
import { isGroup } from './attribute-path.ts';

/** The values that a path can have, where definitions list them or a clock counts them. */
export interface ValueDomain {
  /** All of them: an enum has at most 200. */
  readonly values: readonly (string | number)[];
  /** The values in messages: `one of "open", "closed"`. */
  readonly described: string;
  /** Returns the value that was probably meant by a literal outside the domain. */
  nearest(given: Json): string;
  /** The alternative to `between` with reversed bounds, for values that start again after the last. */
  readonly describeWrapped?: (low: number, high: number) => string;
}

/** Values that a message lists. */
const VALUES_SHOWN = 12;

/** The domain of a path that holds one of a list of texts. */
export function createTextDomain(values: readonly string[]): ValueDomain {
  const shown = values.slice(0, VALUES_SHOWN).map((value) => JSON.stringify(value));
  const more = values.length - shown.length;
  return Object.freeze({
    values,
    described: `one of ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    nearest: (given: Json) => (typeof given === 'string' ? didYouMean(given, values) : ''),
  });
}

/** The description of a domain of whole numbers. */
interface NumberDomainOptions extends Pick<ValueDomain, 'describeWrapped'> {
  /** `an hour`. */
  readonly noun: string;
  /** Other ways to write a value, in lower case: `sun` and `0` for Sunday. */
  readonly alsoWritten?: ReadonlyMap<string, number>;
}

/** The domain of a path that holds a whole number from `first` to `last`. */
export function createNumberDomain(first: number, last: number, { noun, alsoWritten, describeWrapped }: NumberDomainOptions): ValueDomain {
  const toNearest = (given: Json): number | undefined => {
    const alias = alsoWritten?.get(String(given).toLowerCase());
    if (alias !== undefined) return alias;
    const number = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
    return typeof number === 'number' && Number.isFinite(number) ? Math.min(Math.max(Math.round(number), first), last) : undefined;
  };
  return Object.freeze({
    values: Array.from({ length: last - first + 1 }, (_, index) => first + index),
    described: `${noun} from ${first} to ${last}`,
    nearest(given: Json) {
      const near = toNearest(given);
      return near === undefined ? '' : ` (did you mean ${near}?)`;
    },
    ...(describeWrapped !== undefined && { describeWrapped }),
  });
}

/** Returns the message for a literal outside the domain of `name`, with the value that was probably meant. */
export function describeOutside(given: Json, name: string, domain: ValueDomain): string {
  const meant = typeof given === 'string' ? toMeantPath(given) : undefined;
  const hint = meant === undefined ? domain.nearest(given) : `; a reference is written \${${meant}}`;
  return `${describeValue(given)} is no value of ${name}: expected ${domain.described}${hint}`;
}

/** Maximum length of a reference, in characters. */
const LONGEST = 200;

/** Markers of references in other products: `$user.id`, `@request.auth.id`, `{{user.id}}`, `#{user.id}`, `$(user.id)`, `:user.id`. */
const DECORATED = /^(?:\$?\{\{|[$#@:%]\{?|\$\(|\{|<%=)\s*([A-Za-z_][\w.-]*)(?:\(\))?\s*(?:\}\}|[})%]|%>)?$/;
/** Markers of references inside a text: `owner-{{user.id}}`. */
const INSIDE = /\{\{\s*([A-Za-z_][\w.]*)\s*\}\}/;

/** Names of the caller, the record and the time in other products, mapped to ours. A name that ends with a dot is the start of a path. */
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

/** Names that mean a reference without a sign before them. */
const PLAIN: ReadonlySet<string> = new Set(['request.auth.uid', 'auth.uid()', 'x-hasura-user-id', 'x-hasura-role']);

/**
 * Returns the path that a text means in the language of another product, `user.id` for `{{user.id}}` or `@request.auth.id`;
 * undefined for a text that is no reference there.
 */
export function toMeantPath(text: string): string | undefined {
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
