import type { Issue, TextRange } from '../errors.ts';
import { describeValue, type Json } from '../operators/index.ts';
import { type Condition, constant, type Path, type PathKind } from './condition.ts';
import type { ValueDomain } from './value-domain.ts';

/** Limits on the conditions of a rule. */
export interface ConditionLimits {
  /** Maximum nesting depth of groups. */
  readonly depth: number;
  /** Maximum references that one path follows. */
  readonly references: number;
  /** Maximum conditions of a rule, including nested conditions. */
  readonly comparisons: number;
  /** Maximum items of one list operand. */
  readonly listItems: number;
  /** Maximum characters of one text operand. */
  readonly textLength: number;
  /** Maximum characters of one CEL expression. */
  readonly expressionLength: number;
  /** Maximum nesting depth of one CEL expression's tree. */
  readonly expressionDepth: number;
  /** Maximum related records that one condition counts. */
  readonly relatedRecords: number;
}

/** The place of the conditions, and the syntax, limits and definitions that they are validated with. */
export interface ConditionParserOptions {
  /** The prefix of issue paths: `rules.0.conditions`. */
  readonly at: string;
  /** True if `{ expression }` is allowed. */
  readonly expressions: boolean;
  readonly limits: ConditionLimits;
  /** Returns the kind that definitions give to a path, `any` for a path without a definition, or the reason why the path never has a value. */
  readonly describePath?: (path: Path) => PathKind | 'any' | { readonly problem: string };
  /** Returns the lists of references that a path follows, in order; none if absent. */
  readonly listsOf?: (path: Path) => readonly FollowedList[];
  /** Describes a related resource. If it is absent or returns undefined, the resource may have any field. */
  readonly describeRelated?: (resource: string) => RelatedDescription | { readonly problem: string } | undefined;
  /**
   * Returns the values that a path can have, if they are known. Present for new rules: a literal that can never match is then a
   * mistake. Absent for stored rules, so that a later definition does not change their decisions.
   */
  readonly domainOf?: (path: Path) => ValueDomain | undefined;
}

/** A list of references that a path follows. */
export interface FollowedList {
  /** The number of keys of the path of the list. */
  readonly length: number;
  /** The name of the resource that its items refer to. */
  readonly resource: string;
}

/** A related resource, as the parser reads its fields. */
export interface RelatedDescription {
  /** Returns the kind of the values at the keys of a path, like `describePath`. */
  describe(keys: readonly string[], text: string): PathKind | 'any' | { readonly problem: string };
  /** Returns the lists that a path follows, like `listsOf`. Their lengths count the keys after the alias. */
  listsOf?(keys: readonly string[]): readonly FollowedList[];
  /** Returns the values that a path can have, like `domainOf`. */
  domainOf?(keys: readonly string[]): ValueDomain | undefined;
}

/** A condition on related records whose `where` is being parsed. */
export interface OpenRelated {
  readonly as: string;
  readonly description: RelatedDescription | undefined;
}

/** The codes of mistakes in conditions. */
export type ConditionIssueCode =
  | 'type'
  | 'range'
  | 'required'
  | 'unknown'
  | 'tooLong'
  | 'tooMany'
  | 'tooDeep'
  | 'field'
  | 'context'
  | 'operator'
  | 'value'
  | 'expression';

/** The state of a parser. */
export interface ConditionParser {
  readonly options: ConditionParserOptions;
  readonly issues: Issue[];
  /** The number of conditions parsed so far. */
  count: number;
  /** The conditions on related records that enclose the current one. */
  readonly related: OpenRelated[];
}

/** Returns the aliases with which paths may begin. */
export function aliasesOf({ related }: ConditionParser): readonly string[] {
  return related.map(({ as }) => as);
}

/** Adds an issue. Returns an unknown condition in place of the invalid condition: an ALLOW rule then does not apply, a DENY rule does. */
export function addConditionIssue(
  parser: ConditionParser,
  at: string,
  mistake: { readonly code: ConditionIssueCode; readonly detail: string; readonly range?: TextRange },
): Condition {
  parser.issues.push({ path: at, ...mistake });
  return constant(null);
}

/** Appends a member or an index to an issue path. */
export function joinPath(at: string, name: string | number): string {
  return at === '' ? String(name) : `${at}.${name}`;
}

/** Returns the kind of a path (undefined if every kind is possible), or the reason why the path never has a value. */
export function lookupKind(parser: ConditionParser, path: Path): { readonly kind: PathKind | undefined } | { readonly problem: string } {
  const described = describe(parser, path);
  if (described === 'any') return { kind: undefined };
  return 'problem' in described ? described : { kind: described };
}

function describe({ options, related }: ConditionParser, path: Path): PathKind | 'any' | { readonly problem: string } {
  if (path.group !== 'related') return options.describePath?.(path) ?? 'any';
  const [alias, ...keys] = path.keys;
  return related.find(({ as }) => as === alias)?.description?.describe(keys, path.text) ?? 'any';
}

/** Returns the lists of references that a path follows. */
export function lookupLists({ options, related }: ConditionParser, path: Path): readonly FollowedList[] {
  if (path.group !== 'related') return options.listsOf?.(path) ?? [];
  const [alias, ...keys] = path.keys;
  const lists = related.find(({ as }) => as === alias)?.description?.listsOf?.(keys) ?? [];
  return lists.map(({ length, resource }) => ({ length: length + 1, resource }));
}

/** Returns the values that a path can have; undefined if they are not known, or if literals are not validated. */
export function lookupDomain({ options, related }: ConditionParser, path: Path): ValueDomain | undefined {
  if (options.domainOf === undefined) return undefined;
  const [alias, ...keys] = path.keys;
  return path.group === 'related' ? related.find(({ as }) => as === alias)?.description?.domainOf?.(keys) : options.domainOf(path);
}

/** Renders `expected …, given …`. */
export function expected(what: string, given: Json | undefined): string {
  return `expected ${what}, given ${describeValue(given)}`;
}
