import type { Json, Truth } from '../operators/index.ts';
import type { PathKind } from './scope.ts';

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
