import { type Json, type Kind, notTruth, type Truth, UNKNOWN } from '../operators/index.ts';

/** The groups of the context that a path may start with. */
export const CONTEXT_GROUPS = ['user', 'resource', 'environment', 'request'] as const;
/** A group of the context. */
export type ContextGroup = (typeof CONTEXT_GROUPS)[number];

/** A dotted path into the context: `user.department` is group `user`, keys `['department']`. */
export interface Path {
  /** `related` for a path that begins with the alias of related records: the first key is the alias. */
  readonly group: ContextGroup | 'related';
  readonly keys: readonly string[];
  /** The path with its group: `user.department`. */
  readonly text: string;
}

/** The right side of a comparison. */
export type Operand =
  | { readonly type: 'literal'; readonly value: Json }
  /** A text that is only `${path}`. The operand has the type of the referenced value. */
  | { readonly type: 'reference'; readonly path: Path }
  /** A text that contains `${path}` and other characters. Texts, numbers and booleans are inserted; with any other value the comparison is unknown. */
  | { readonly type: 'template'; readonly parts: readonly (string | Path)[] }
  | { readonly type: 'array'; readonly items: readonly Operand[] }
  | ComputedOperand;

/** A part of an expression that does not read the record, such as `user.level + 1`. The value is the same for all records of a list. */
export interface ComputedOperand {
  readonly type: 'computed';
  readonly source: string;
  /** The paths that the expression reads. */
  readonly paths: readonly Path[];
  /** Returns the value; undefined if the evaluation fails. Never throws. */
  evaluate(reading: ExpressionInput): Json | undefined;
}

/** The kind that the sides of a comparison are compared as. `kind` is undefined if no definition gives one. */
export type ComparisonKind = Partial<PathKind>;

/** A comparison of the value at a path with an operand. */
export interface Comparison {
  readonly type: 'comparison';
  readonly path: Path;
  readonly operator: string;
  readonly operand: Operand;
  /** If true, a missing value at the path makes the result false instead of unknown. */
  readonly ifExists: boolean;
  /** The kind of the original comparison. Set by partial evaluation when it resolves references or exchanges the sides. */
  readonly as?: ComparisonKind;
}

/** The values and kinds of the paths that an expression reads. */
export interface ExpressionInput {
  valueAt(path: Path): Json | undefined;
  /** Returns the kind of a path's values. Values of integer fields are `int` in CEL. */
  kindOf(path: Path): PathKind | undefined;
}

/** A CEL expression that cannot be lowered to comparisons. It is evaluated in memory. */
export interface Expression {
  readonly type: 'expression';
  readonly source: string;
  /** The paths that the expression reads. */
  readonly paths: readonly Path[];
  /** Evaluates the expression. Returns unknown if the evaluation fails. Never throws. */
  evaluate(reading: ExpressionInput): Truth;
  /** The expression as a comparison of integers, which a database can evaluate; absent for other expressions. */
  readonly integers?: IntegerComparison;
}

/** Integer fields of the record, compared after arithmetic that stays within integers: `resource.count % 2 == 0`. */
export interface IntegerComparison {
  readonly sign: '=' | '<>' | '<' | '<=' | '>' | '>=';
  readonly left: IntegerTerm;
  readonly right: IntegerTerm;
}

/** One side of a comparison of integers. */
export type IntegerTerm =
  | { readonly type: 'field'; readonly path: Path }
  /** The integer in decimal digits, because JSON has no bigint. */
  | { readonly type: 'literal'; readonly digits: string }
  | { readonly type: 'operation'; readonly sign: '+' | '-' | '*' | '/' | '%'; readonly left: IntegerTerm; readonly right: IntegerTerm };

/**
 * A condition on the number of related records. Counts the records of `resource` whose fields equal the values of `on`, by their result of `where`.
 *
 * | bound        | true                       | false                      |
 * |--------------|----------------------------|----------------------------|
 * | `atLeast: n` | n or more are true         | less than n are true or unknown |
 * | `atMost: n`  | n or less are true or unknown | more than n are true    |
 *
 * Otherwise it is unknown, as it is if a value of `on` is missing, or if there are more than `limit` related records.
 */
export interface Related {
  readonly type: 'related';
  /** The name of the related resource. */
  readonly resource: string;
  /** The name with which paths in `where` begin. */
  readonly as: string;
  readonly on: readonly RelatedLink[];
  readonly where: Condition;
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
  /** Maximum number of related records. */
  readonly limit: number;
}

/** A field of the related resource, and the value that it must be equal to. */
export interface RelatedLink {
  /** The path of the field, which begins with the alias. */
  readonly path: Path;
  readonly operand: Extract<Operand, { type: 'literal' | 'reference' }>;
}

/**
 * A condition on a record and its ancestors in a hierarchy: one of them is among the ids of the operand. At most `MAX_LEVELS` records are compared.
 *
 * | the records, from the first one upwards | result |
 * |---|---|
 * | one of them is among the ids | true |
 * | none is, and the last one has no parent | false |
 * | none is, and the next parent does not exist, or there are too many | unknown |
 */
export interface Within {
  readonly type: 'within';
  /** The path of the id of the first record. */
  readonly path: Path;
  /** The path of the id of its parent, if `path` is the id of the record that has the path; the record may not be stored as it is. */
  readonly parent?: Path | undefined;
  readonly operand: Operand;
  /** If true, a missing value at the path makes the result false instead of unknown. */
  readonly ifExists: boolean;
}

/**
 * A comparison through a list of references: it holds for the record of some item. An item without a record, and a missing list, count as a record
 * without values. With more than `limit` items, it is unknown.
 */
export interface Some {
  readonly type: 'some';
  /** The path of the list. */
  readonly path: Path;
  /** The name of the resource of the records. */
  readonly resource: string;
  /** The name with which paths in `where` begin: the text of `path`, so that they have the same text as the paths that were written. */
  readonly as: string;
  readonly where: Condition;
  /** Maximum number of items. */
  readonly limit: number;
}

/** Maximum records of a hierarchy that a condition compares, from the first one upwards. */
export const MAX_LEVELS = 32;

/** The condition tree. An empty `all` is true, an empty `any` false. */
export type Condition =
  | { readonly type: 'constant'; readonly value: Truth }
  | Comparison
  | Expression
  | Related
  | Within
  | Some
  | { readonly type: 'all'; readonly of: readonly Condition[] }
  | { readonly type: 'any'; readonly of: readonly Condition[] }
  | { readonly type: 'not'; readonly of: Condition };

/** The value of a path into a record that has not been read yet, as when access to a list is decided. */
export const UNRESOLVED: unique symbol = Symbol('unresolved');

/** The kind of the values at a path, and of the items of a list. */
export interface PathKind {
  readonly kind: Kind;
  readonly itemKind?: Kind | undefined;
  /** True if the numbers, or the numbers in a list, are integers: in expressions they are CEL's `int`. */
  readonly whole?: true;
  /** The hierarchy of the records that the values identify. */
  readonly hierarchy?: PathHierarchy | undefined;
}

/** The hierarchy of the records that the values at a path identify. */
export interface PathHierarchy {
  /** The name of the resource of the records. */
  readonly resource: string;
  /** The field that refers to the parent, if the path is the id of the record that has the path, not a reference to another. */
  readonly parent?: string;
}

/** The values that a condition is evaluated with. Built by `authz/context/`. */
export interface Scope {
  /** Returns the value at a path: undefined if it is missing, UNRESOLVED if it is not known yet. Reads own properties only. */
  valueOf(path: Path): Json | undefined | typeof UNRESOLVED;
  /** Returns the kind that definitions give to a path; undefined without a definition. */
  kindOf(path: Path): PathKind | undefined;
  /**
   * The objects that `kindOf` depends on. In all scopes with the same two objects, `kindOf` returns the same for every path, so callers
   * may cache by them. Absent if there is no such guarantee.
   */
  readonly kindsFrom?: { readonly definitions: object; readonly resource: object };
  /** The related records; absent if they are not known, as in a policy finding. */
  readonly related?: RelatedLookup | undefined;
  /** The current time in milliseconds since 1970. */
  readonly now: number;
  readonly timeZone: string;
}

/** A related record, as conditions read it. */
export interface RelatedRecord {
  readonly id: string;
  /** Returns the value at the keys of a path after the alias. */
  valueOf(keys: readonly string[]): Json | undefined;
}

/** The related records that conditions read. */
export interface RelatedLookup {
  /**
   * Returns the related records whose fields equal `values`, in the order of `on`. `tooMany` if there are more than the limit, `unknown` if they
   * cannot be counted or have not been loaded yet; UNRESOLVED if they depend on a record that is not known yet.
   */
  find(related: Related, values: readonly Json[]): readonly RelatedRecord[] | 'tooMany' | 'unknown' | typeof UNRESOLVED;
  /** Returns a record and its ancestors. `unknown` if they have not been loaded yet; UNRESOLVED if they are not known. */
  ancestors(resource: string, id: string): Ancestors | 'unknown' | typeof UNRESOLVED;
  /** Returns the record of an item of a list; undefined if there is none, `unknown` if it has not been loaded yet, UNRESOLVED if it is not known. */
  item(some: Some, id: string): RelatedRecord | undefined | 'unknown' | typeof UNRESOLVED;
  /** Returns the kind of the values at the keys of a path after the alias. */
  kindOf(resource: string, keys: readonly string[]): PathKind | undefined;
}

/** A record and its ancestors, at most `MAX_LEVELS`. */
export interface Ancestors {
  /** Ids of the existing records, from the first one upwards. */
  readonly ids: readonly string[];
  /** The reason why there are no more: the last one has no parent, its parent does not exist, or there are too many, as in a cycle. */
  readonly end: 'root' | 'missing' | 'limit';
}

/** The condition that is true for every record. */
export const ALWAYS: Condition = Object.freeze({ type: 'constant', value: true });

/** The condition that is false for every record. */
export const NEVER: Condition = Object.freeze({ type: 'constant', value: false });

const ALWAYS_UNKNOWN: Condition = Object.freeze({ type: 'constant', value: UNKNOWN });

/** Returns the condition whose result is `truth` for every record. */
export function constant(truth: Truth): Condition {
  return truth === UNKNOWN ? ALWAYS_UNKNOWN : truth ? ALWAYS : NEVER;
}

/** Joins conditions with `and` and simplifies the result. Without conditions it is true. */
export function all(conditions: readonly Condition[]): Condition {
  return join('all', conditions);
}

/** Joins conditions with `or` and simplifies the result. Without conditions it is false. */
export function any(conditions: readonly Condition[]): Condition {
  return join('any', conditions);
}

/** Negates a condition and simplifies the result. Unknown stays unknown. */
export function not(condition: Condition): Condition {
  if (condition.type === 'constant') return constant(notTruth(condition.value));
  return condition.type === 'not' ? condition.of : { type: 'not', of: condition };
}

/**
 * Simplifies a group by Kleene's three-valued logic. In an `all`, `false` decides the group, `true` is dropped, and `unknown` stays,
 * because another member may still be false.
 */
function join(type: 'all' | 'any', conditions: readonly Condition[]): Condition {
  const decisive = type === 'any';
  const members: Condition[] = [];
  let hasUnknown = false;
  // Two loops instead of `flatMap`, which takes several times as long: every list joins several conditions.
  for (const each of conditions) {
    for (const condition of each.type === type ? each.of : [each]) {
      if (condition.type !== 'constant') members.push(condition);
      else if (condition.value === decisive) return constant(decisive);
      else if (condition.value === UNKNOWN) hasUnknown = true;
    }
  }
  const [first] = members;
  if (first === undefined) return constant(hasUnknown ? UNKNOWN : !decisive);
  if (hasUnknown) return { type, of: [...members, ALWAYS_UNKNOWN] };
  return members.length === 1 ? first : { type, of: members };
}
