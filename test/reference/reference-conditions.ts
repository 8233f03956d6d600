/**
 * The meaning of a rule's conditions, straight from the prose of `docs/guides/policies.md`: no tree, no compiling, nothing
 * open, and no code of `src/` but types.
 */
import type { Json, JsonObject, Kind, Truth } from '../../src/operators/index.ts';
import { all, any, MEANINGS, type Meaning, not } from './reference-operators.ts';

/** What definitions say of a path. */
export type PathKind = Kind | `list of ${Kind}`;

/** The answer of an expression, said by hand: what it reads comes from `valueAt`. */
export type ExpressionMeaning = (valueAt: (path: string) => Json | undefined) => Truth;

/** Everything conditions read, as plain data. */
export interface Facts {
  /** `user`, `resource`, `environment`, `request`; secrets are in none of them. */
  readonly groups: Readonly<Record<string, JsonObject>>;
  /** The records that references lead to, by path: `resource.authorId` → that user's fields. */
  readonly referred: Readonly<Record<string, JsonObject>>;
  /** By path; what is not here has none. */
  readonly kinds: ReadonlyMap<string, PathKind>;
  /** By the text of the expression, which the reference does not read: the condition that says the same, or the answer itself. */
  readonly expressions?: ReadonlyMap<string, JsonObject | ExpressionMeaning>;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly timeZone: string;
}

/** True, false or unknown. */
export function truthOf(condition: JsonObject, facts: Facts): Truth {
  const { anyOf, allOf, not: negated, expression } = condition;
  if (Array.isArray(anyOf)) return any(anyOf.map((one) => truthOf(one, facts)));
  if (Array.isArray(allOf)) return all(allOf.map((one) => truthOf(one, facts)));
  if (negated !== undefined) return not(truthOf(negated as JsonObject, facts));
  return typeof expression === 'string' ? truthOfExpression(expression, facts) : truthOfComparison(condition, facts);
}

function truthOfExpression(expression: string, facts: Facts): Truth {
  const meaning = facts.expressions?.get(expression);
  if (meaning === undefined) throw new Error(`nobody has said what ${expression} means`);
  return typeof meaning === 'function' ? meaning((path) => valueAt(path, facts)) : truthOf(meaning, facts);
}

function truthOfComparison({ field, context, operator, value = null, ifExists }: JsonObject, facts: Facts): Truth {
  const meaning = MEANINGS.get(String(operator));
  if (meaning === undefined) return null;
  const path = Object.hasOwn(facts.groups, String(field).split('.')[0] ?? '') ? String(field) : `${context}.${field}`;
  const actual = valueAt(path, facts);
  if (actual === undefined && meaning.onMissing !== true) return ifExists === true ? false : null;
  if (actual === null && meaning.onNull !== true) return null;
  const terms = termsOf(path, { meaning, value, facts });
  if (terms === 'mismatch' || (terms.kind !== undefined && !meaning.kinds.includes(terms.kind))) return null;
  const expected = resolve(value, facts);
  // A missing subject reaches here only where the operator says what it means.
  return expected === undefined ? null : meaning.says(actual as Json, expected, { ...terms, now: facts.now, timeZone: facts.timeZone });
}

/** Own properties of plain objects only; a reference leads on into the record that it names. */
function valueAt(path: string, { groups, referred }: Facts): Json | undefined {
  const [group = '', ...keys] = path.split('.');
  let value: Json | undefined = groups[group];
  let at = group;
  for (const key of keys) {
    value =
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
        ? (value as JsonObject)[key]
        : undefined;
    at = `${at}.${key}`;
    if (at !== path && Object.hasOwn(referred, at)) value = referred[at];
  }
  return value;
}

/** A `${path}` alone keeps its type, inside a text it becomes text, and where it leads to nothing nothing can be said. */
function resolve(value: Json, facts: Facts): Json | undefined {
  if (typeof value === 'string') return resolveText(value, facts);
  return Array.isArray(value) ? value.map((item: Json) => (typeof item === 'string' ? resolveItem(item, facts) : item)) : value;
}

/** A list or object compares with nothing, which is what is to be said of an item that is not there. */
function resolveItem(text: string, facts: Facts): Json {
  const value = resolveText(text, facts);
  return value === undefined ? {} : value;
}

function resolveText(text: string, facts: Facts): Json | undefined {
  const path = onlyPath(text);
  if (path !== undefined) return valueAt(path, facts);
  const values = [...text.matchAll(/\$\{([^}]*)\}/g)].map(([, inner = '']) => valueAt(inner, facts));
  if (values.some((value) => value === undefined || typeof value === 'object')) return undefined;
  return text.replaceAll(/\$\{[^}]*\}/g, () => String(values.shift()));
}

function onlyPath(value: Json): string | undefined {
  return typeof value === 'string' ? /^\$\{([^}]*)\}$/.exec(value)?.[1] : undefined;
}

type Compared = { readonly kind: Kind | undefined; readonly itemKind: Kind | undefined };

/** What the two sides compare as: the kind of the path, met with the kinds of what the other side refers to. */
function termsOf(path: string, { meaning, value, facts }: { meaning: Meaning; value: Json; facts: Facts }): Compared | 'mismatch' {
  const left = kindAt(path, facts);
  if (meaning.right === 'other') return left;
  const isAboutItems = meaning.kinds.includes('list');
  const isAboutTime = meaning === MEANINGS.get('before') || meaning === MEANINGS.get('after');
  let met: Kind | undefined | 'mismatch' = isAboutItems ? left.itemKind : left.kind;
  for (const right of rightKinds(value, meaning, facts)) {
    // Text on the right of what is about time is read as time.
    if (met !== 'mismatch') met = meet(met, isAboutTime && right === 'text' ? undefined : right);
  }
  if (met === 'mismatch') return met;
  return isAboutItems ? { kind: left.kind, itemKind: met } : { kind: met, itemKind: left.itemKind };
}

function rightKinds(value: Json, { right }: Meaning, facts: Facts): readonly (Kind | undefined)[] {
  const path = onlyPath(value);
  if (path !== undefined) return [right === 'values' ? kindAt(path, facts).itemKind : kindAt(path, facts).kind];
  const items: readonly Json[] = Array.isArray(value) ? value : [];
  return items.map(onlyPath).map((item) => (item === undefined ? undefined : kindAt(item, facts).kind));
}

function kindAt(path: string, { kinds }: Facts): Compared {
  const said = kinds.get(path);
  const item = said?.startsWith('list of ') ? (said.slice('list of '.length) as Kind) : undefined;
  return item === undefined ? { kind: said as Kind | undefined, itemKind: undefined } : { kind: 'list', itemKind: item };
}

/** What nothing is known of, and JSON, take the other's; dates, instants and decimals are written as text. */
function meet(left: Kind | undefined, right: Kind | undefined): Kind | undefined | 'mismatch' {
  if (right === undefined || right === 'json' || left === right) return left;
  if (left === undefined || left === 'json') return right;
  const written = ['date', 'timestamp', 'decimal'];
  if (left === 'text' && written.includes(right)) return right;
  return right === 'text' && written.includes(left) ? left : 'mismatch';
}
