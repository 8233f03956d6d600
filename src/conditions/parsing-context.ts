import type { Issue } from '../errors.ts';
import { describeValue, type Json } from '../operators/index.ts';
import { type Condition, constant, type Path, type PathKind } from './condition.ts';
import type { ValueDomain } from './validate-literals.ts';

/** Bounds on what a rule may say. */
export interface ConditionLimits {
  /** Groups within groups. */
  readonly depth: number;
  /** Conditions of all depths together. */
  readonly comparisons: number;
  /** Items of one list operand. */
  readonly listItems: number;
  /** Characters of one text operand. */
  readonly textLength: number;
  /** Characters of one CEL expression. */
  readonly expressionLength: number;
  /** Nesting of one CEL expression's tree. */
  readonly expressionDepth: number;
}

/** What conditions are read for. */
export interface ConditionParser {
  /** Where they stand, as a prefix of issue paths: `rules.0.conditions`. */
  readonly at: string;
  /** Whether `{ expression }` may stand among them. */
  readonly expressions: boolean;
  readonly limits: ConditionLimits;
  /** What definitions say of a path: its kind, that anything may stand there, or why nothing ever can. Without it, anything may. */
  readonly describePath?: (path: Path) => PathKind | 'any' | { readonly problem: string };
  /**
   * The values that a path can have, where they are known. Given where a rule is written: a literal that can never match is
   * then a mistake. Stored rules are read without it, so that a later definition does not change what they decide.
   */
  readonly domainOf?: (path: Path) => ValueDomain | undefined;
}

/** What is wrong with a condition, by kind of mistake. */
export type ConditionIssueCode = 'type' | 'required' | 'unknown' | 'limit' | 'field' | 'context' | 'operator' | 'value' | 'expression';

/** Reading as it goes on: mistakes add up. */
export interface ConditionParsing {
  readonly reader: ConditionParser;
  readonly issues: Issue[];
  /** Conditions read so far. */
  count: number;
}

/** Notes a mistake; the condition that has it answers unknown, so that it neither allows nor lets a denial pass. */
export function addConditionIssue(
  reading: ConditionParsing,
  at: string,
  mistake: { readonly code: ConditionIssueCode; readonly detail: string },
): Condition {
  reading.issues.push({ path: at, ...mistake });
  return constant(null);
}

/** The path of a member, as issues say it. */
export function member(at: string, name: string | number): string {
  return at === '' ? String(name) : `${at}.${name}`;
}

/** What definitions say of a path to which they have nothing against; undefined where anything may stand there. */
export function describedKind(
  reading: ConditionParsing,
  path: Path,
): { readonly kind: PathKind | undefined } | { readonly problem: string } {
  const described = reading.reader.describePath?.(path) ?? 'any';
  if (described === 'any') return { kind: undefined };
  return 'problem' in described ? described : { kind: described };
}

/** `expected …, given …` */
export function expected(what: string, given: Json | undefined): string {
  return `expected ${what}, given ${describeValue(given)}`;
}
