import { createHash } from 'node:crypto';
import type { Field } from '../../fields/index.ts';
import type { Definitions, Resource } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { DefinitionRow } from './applied-definitions.ts';

/**
 * The kind of a step. `keepAside` archives and `bringBack` restores an archived table or column; `hide` makes records count as
 * soft-deleted; `redefine` changes the definition without a change of the table; `stay` states why nothing is done.
 */
export type StepKind =
  | 'createTable'
  | 'renameTable'
  | 'addColumn'
  | 'renameColumn'
  | 'convert'
  | 'backfill'
  | 'createIndex'
  | 'dropIndex'
  | 'dropColumn'
  | 'dropTable'
  | 'keepAside'
  | 'bringBack'
  | 'hide'
  | 'redefine'
  | 'dropRecords'
  | 'stay';

/**
 * The risk of a step. `safe` changes no value; `needs-backfill` writes values and loses none; `lossy` archives values that cannot be
 * converted, hides records or breaks rules; `destructive` permanently deletes data; `blocked` cannot be performed.
 */
export type Risk = 'safe' | 'needs-backfill' | 'lossy' | 'destructive' | 'blocked';

/** The risks of steps that are performed only if the hash of their plan was confirmed. */
export const NEEDS_CONFIRMATION: ReadonlySet<Risk> = new Set(['lossy', 'destructive']);

/** A rule of a policy, with the ids and names of both. */
export interface RuleName {
  readonly policyId: string;
  readonly policy: string;
  readonly ruleId: string;
  /** The description of the rule, or its position: `rule 2`. */
  readonly rule: string;
}

/** One step of a migration plan, as plain data. */
export interface Step {
  readonly resource: string;
  readonly kind: StepKind;
  readonly risk: Risk;
  /** A sentence for people: the change and its reason, or why it is blocked. */
  readonly reason: string;
  /** The field, if the step concerns a single field. */
  readonly field?: string;
  /** The former name of the field, or of the resource if `field` is absent, in a step that renames. */
  readonly from?: string;
  /** The number of affected rows; absent if they were not counted. */
  readonly rows?: number;
  /** Ids of the first records that would lose a value. */
  readonly ids?: readonly string[];
  /** The rules that read or contain the name of the resource or field. */
  readonly rules?: readonly RuleName[];
  /** The SQL for people to read, with placeholders for values. */
  readonly sql: readonly string[];
}

/** The steps that migrate the tables to the definitions. Plain data. */
export interface Plan {
  /** SHA-256 over the steps and the definitions. Equal on every machine; it changes when the affected data of a lossy step change. */
  readonly hash: string;
  readonly steps: readonly Step[];
  /** Resources that are not migrated at all, because one of their steps is blocked or needs a confirmation that was not given. */
  readonly held: readonly string[];
}

/** A change of the rows in `_Definition`: saves a row, or deletes the row of an id. */
export type DefinitionChange = { readonly save: DefinitionRow } | { readonly delete: string };

/** A step with the statements and changes that performing it needs. */
export interface DraftStep extends Step {
  /** The statements of the step, run in order. */
  readonly statements: readonly Sql[];
  /** Statements that run after the statements of all steps, because they refer to tables that other steps create. */
  readonly deferred?: readonly Sql[];
  /** A query that counts the affected rows. The step is left out if the count is 0. */
  readonly affected?: Sql;
  /** The conversion of the step. It is computed before the plan is complete, because the number of lost values decides the risk. */
  readonly conversion?: Conversion;
  readonly definitionChanges?: readonly DefinitionChange[];
  /** The SHA-256 of the ids of all records that would lose a value; `ids` contains the first. */
  readonly idsHash?: string;
}

/** The values of one column and the type that they are converted to. */
export interface Conversion {
  /** The table name before the migration. */
  readonly table: string;
  /** The resource under its new name. */
  readonly resource: Resource;
  readonly from: ConversionColumn;
  /** The field as newly defined. */
  readonly after: Field;
  /** The archived columns of the field, oldest first. */
  readonly archived: readonly ConversionColumn[];
  /**
   * The index in `archived` of the column whose values are used again, because it has the new type or a wider one; undefined if none has.
   */
  readonly restored: number | undefined;
  /** The column type in the syntax of the database. */
  readonly columnType: string;
  readonly target?: ReferenceTarget;
}

/** A column and the field that its values were written as. */
export interface ConversionColumn {
  readonly column: string;
  readonly field: Field;
  /** Present if the field is a reference or a list of references. */
  readonly target?: ReferenceTarget;
}

/** The table that a reference points to; `table` is undefined if the table does not exist. */
export interface ReferenceTarget {
  readonly table: string | undefined;
}

/** A query for rows that block a step. It runs before any step is performed. */
export interface Precondition {
  readonly field?: string;
  readonly query: Sql;
  /**
   * Statements that fail with VALUE_INVALID if the rows of the query block the step. They run in a savepoint, and must leave nothing behind.
   * Absent if the rows alone decide.
   */
  readonly trial?: readonly Sql[];
  /** Returns the refusal for the rows of the query, or undefined if the rows do not block the step. */
  refuse(rows: readonly Readonly<Record<string, unknown>>[]): Refusal | undefined;
}

/** The reason why a step is blocked, and what to do about it. */
export interface Refusal {
  readonly reason: string;
  /** The number of rows that block the step. */
  readonly rows?: number;
  /** The ids of the first rows that block the step. */
  readonly ids?: readonly string[];
}

/** The plan of one resource, derived from definitions and tables alone. The queries of its preconditions have not run yet. */
export interface ResourceDraft {
  readonly resource: string;
  readonly steps: readonly DraftStep[];
  readonly refusals: readonly string[];
  readonly preconditions: readonly Precondition[];
}

interface StepInput extends Pick<DraftStep, 'kind' | 'reason' | 'definitionChanges'> {
  readonly risk?: Risk;
  readonly field?: string;
  /** SQL without bound values. */
  readonly texts?: readonly string[];
}

/** Creates a step whose SQL has no bound values. Its risk is `safe` by default. */
export function createStep(resource: string, { texts = [], risk = 'safe', ...input }: StepInput): DraftStep {
  return { resource, risk, ...input, sql: texts, statements: texts.map((text) => sql.raw(text)) };
}

/** Creates a step that performs nothing and gives the reason why the resource is not migrated. */
export function createBlockedStep(resource: string, { field, ...refusal }: Refusal & { readonly field?: string | undefined }): DraftStep {
  return { resource, kind: 'stay', risk: 'blocked', ...refusal, ...(field !== undefined && { field }), sql: [], statements: [] };
}

/** Returns a draft step without its statements, as plain data. */
export function toStep(draft: DraftStep): Step {
  const { statements: _s, deferred: _d, affected: _a, conversion: _c, definitionChanges: _n, idsHash: _i, ...step } = draft;
  return step;
}

/**
 * The version of the table layout. Must be increased if the same definitions lead to other tables: each database is then compared again.
 */
const TABLES_VERSION = 2;

const definitionHashes = new WeakMap<Definitions, string>();

/** Returns the SHA-256 of all definitions as written, system definitions included. */
export function hashDefinitions(definitions: Definitions): string {
  let hash = definitionHashes.get(definitions);
  if (hash === undefined) {
    const sources = [...definitions.values()].map(({ name, source }) => [name, source] as const);
    hash = hashJson([TABLES_VERSION, sources.sort(([a], [b]) => (a < b ? -1 : 1))]);
    definitionHashes.set(definitions, hash);
  }
  return hash;
}

/**
 * Returns the SHA-256 of a plan. The hash leaves out numbers that change while the service runs, such as the number of rows that get a
 * default. It includes the affected rows and the rules of lossy steps: a confirmation for two lost values does not cover a third, and one
 * for a broken rule does not cover another.
 */
export function hashPlan(steps: readonly DraftStep[], definitions: Definitions): string {
  const hashed = steps.map(({ resource, kind, risk, field, from, sql, rows, ids, idsHash, rules }) => {
    const loss = NEEDS_CONFIRMATION.has(risk) ? { rows, ids, idsHash, rules: rules?.map(({ ruleId }) => ruleId).toSorted() } : {};
    return { resource, kind, risk, field, from, sql, ...loss };
  });
  const hashes = [...definitions.values()].map(({ name, hash }) => [name, hash] as const);
  return hashJson([hashed, hashes.sort(([a], [b]) => (a < b ? -1 : 1))]);
}

/** Returns the SHA-256 of a value as JSON, independent of the order of keys. */
function hashJson(value: unknown): string {
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  return createHash('sha256').update(text).digest('hex');
}
