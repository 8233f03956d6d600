import { type Json, type Kind, notTruth, type Truth, UNKNOWN } from '../operators/index.ts';

/** The groups of the context that a path may start with. */
export const CONTEXT_GROUPS = ['user', 'resource', 'environment', 'request'] as const;
/** One of the groups. */
export type ContextGroup = (typeof CONTEXT_GROUPS)[number];

/** A dotted path into the context: `user.department` is group `user`, keys `['department']`. */
export interface Path {
  readonly group: ContextGroup;
  readonly keys: readonly string[];
  /** As written with its group in front. */
  readonly text: string;
}

/** The right side of a comparison. */
export type Operand =
  | { readonly type: 'literal'; readonly value: Json }
  /** `${path}` alone: keeps the type of what it refers to. */
  | { readonly type: 'reference'; readonly path: Path }
  /** `${path}` inside text: strings, numbers and booleans become text, anything else is unknown. */
  | { readonly type: 'template'; readonly parts: readonly (string | Path)[] }
  | { readonly type: 'array'; readonly items: readonly Operand[] }
  | Computed;

/** A part of an expression that reads nothing of the record, such as `user.level + 1`: it has one value for all records of a list. */
export interface Computed {
  readonly type: 'computed';
  readonly source: string;
  /** Every path it reads. */
  readonly paths: readonly Path[];
  /** Returns undefined for an error. Never throws. */
  evaluate(reading: ExpressionReading): Json | undefined;
}

/** What a comparison's two sides compare as; a kind that nothing says is undefined. */
export type ComparedAs = Partial<PathKind>;

/** What is at a path, compared with an operand. */
export interface Comparison {
  readonly type: 'comparison';
  readonly path: Path;
  readonly operator: string;
  readonly operand: Operand;
  /** Missing subject: false instead of unknown. */
  readonly ifExists: boolean;
  /** Where references have been resolved or the sides exchanged: what the sides compared as before, which they still do. */
  readonly as?: ComparedAs;
}

/** The input of an evaluation. */
export interface ExpressionReading {
  valueAt(path: Path): Json | undefined;
  /** Returns the kind of a path's values: values of integer fields are `int` in CEL. */
  kindOf(path: Path): PathKind | undefined;
}

/** A CEL expression that our own tree cannot say; it is evaluated in memory. */
export interface Expression {
  readonly type: 'expression';
  readonly source: string;
  /** Every path it reads. */
  readonly paths: readonly Path[];
  /** The answer where its paths have these values; an error is unknown. Never throws. */
  evaluate(reading: ExpressionReading): Truth;
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
  /** In decimal digits: JSON has no bigint. */
  | { readonly type: 'literal'; readonly digits: string }
  | { readonly type: 'operation'; readonly sign: '+' | '-' | '*' | '/' | '%'; readonly left: IntegerTerm; readonly right: IntegerTerm };

/** The condition tree. An empty `all` is true, an empty `any` false. */
export type Condition =
  | { readonly type: 'constant'; readonly value: Truth }
  | Comparison
  | Expression
  | { readonly type: 'all'; readonly of: readonly Condition[] }
  | { readonly type: 'any'; readonly of: readonly Condition[] }
  | { readonly type: 'not'; readonly of: Condition };

/** Said of a path into a record that is not known yet: a list is a read with the record open. */
export const OPEN: unique symbol = Symbol('open');

/** What a path compares as, and what the items of a list compare as. */
export interface PathKind {
  readonly kind: Kind;
  readonly itemKind?: Kind | undefined;
  /** True if the numbers, or the numbers in a list, are integers: in expressions they are CEL's `int`. */
  readonly whole?: true;
}

/** What a condition is evaluated against. `context/` builds it. */
export interface Scope {
  /** The value at a path: own properties of plain data only; undefined is missing; OPEN while the record is unknown. */
  valueOf(path: Path): Json | undefined | typeof OPEN;
  /** What definitions say of a path; undefined where none does. */
  kindOf(path: Path): PathKind | undefined;
  /**
   * What `kindOf` goes by: in all scopes where both are the same objects it says the same of every path, and what follows
   * from that is worked out once. Absent where nobody vouches for it.
   */
  readonly kindsFrom?: { readonly definitions: object; readonly resource: object };
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly timeZone: string;
}

/** True whatever the record. */
export const ALWAYS: Condition = Object.freeze({ type: 'constant', value: true });

/** False whatever the record. */
export const NEVER: Condition = Object.freeze({ type: 'constant', value: false });

const UNDECIDED: Condition = Object.freeze({ type: 'constant', value: UNKNOWN });

/** The condition with one answer, whatever the record. */
export function constant(truth: Truth): Condition {
  return truth === UNKNOWN ? UNDECIDED : truth ? ALWAYS : NEVER;
}

/** True where every one of `conditions` is; without any, true. */
export function all(conditions: readonly Condition[]): Condition {
  return join('all', conditions);
}

/** True where at least one of `conditions` is; without any, false. */
export function any(conditions: readonly Condition[]): Condition {
  return join('any', conditions);
}

/** True where `condition` is false, unknown where it is unknown. */
export function not(condition: Condition): Condition {
  if (condition.type === 'constant') return constant(notTruth(condition.value));
  return condition.type === 'not' ? condition.of : { type: 'not', of: condition };
}

/**
 * Kleene's tables on what is constant, the rest kept: one `false` decides an `all`, `true` says nothing in it, and
 * `unknown` stays, because what is beside it may still be false.
 */
function join(type: 'all' | 'any', conditions: readonly Condition[]): Condition {
  const decisive = type === 'any';
  const kept: Condition[] = [];
  let isUndecided = false;
  for (const condition of conditions.flatMap((each) => (each.type === type ? each.of : each))) {
    if (condition.type !== 'constant') kept.push(condition);
    else if (condition.value === decisive) return constant(decisive);
    else if (condition.value === UNKNOWN) isUndecided = true;
  }
  const [first] = kept;
  if (first === undefined) return constant(isUndecided ? UNKNOWN : !decisive);
  if (isUndecided) return { type, of: [...kept, UNDECIDED] };
  return kept.length === 1 ? first : { type, of: kept };
}

/** Every path that a condition reads, each once, in the order of their first reading. */
export function conditionPaths(condition: Condition): readonly Path[] {
  const found = new Map<string, Path>();
  for (const path of pathsOf(condition)) if (!found.has(path.text)) found.set(path.text, path);
  return [...found.values()];
}

function pathsOf(condition: Condition): readonly Path[] {
  switch (condition.type) {
    case 'constant':
      return [];
    case 'comparison':
      return [condition.path, ...operandPaths(condition.operand)];
    case 'expression':
      return condition.paths;
    case 'not':
      return pathsOf(condition.of);
    default:
      return condition.of.flatMap(pathsOf);
  }
}

/** Every path that an operand refers to. */
export function operandPaths(operand: Operand): readonly Path[] {
  switch (operand.type) {
    case 'literal':
      return [];
    case 'reference':
      return [operand.path];
    case 'template':
      return operand.parts.filter((part) => typeof part !== 'string');
    case 'array':
      return operand.items.flatMap(operandPaths);
    case 'computed':
      return operand.paths;
  }
}
