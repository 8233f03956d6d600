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

/** Risks that are performed only for a plan whose hash was confirmed. */
export const NEEDS_CONFIRMATION: ReadonlySet<Risk> = new Set(['lossy', 'destructive']);

/** A rule of a policy, with the names that an admin finds it by. */
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
  /** The field, where the step concerns a single one. */
  readonly field?: string;
  /** The former name in a rename: of the field if `field` is set, else of the resource. */
  readonly from?: string;
  /** The number of affected rows, where it was counted. */
  readonly rows?: number;
  /** Ids of the first records that would lose a value. */
  readonly ids?: readonly string[];
  /** Rules that read the resource or field. */
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

/** A step with everything that performing it takes. */
export interface DraftStep extends Step {
  /** Run in order. */
  readonly statements: readonly Sql[];
  /** Run after the statements of all steps, because they refer to tables that other steps create. */
  readonly deferred?: readonly Sql[];
  /** Counts the affected rows. The step is left out if there are none. */
  readonly affected?: Sql;
  /** A conversion that is computed before the plan is complete: the number of lost values decides the risk. */
  readonly conversion?: Conversion;
  readonly definitionChanges?: readonly DefinitionChange[];
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
  /** Index of the archived column that has the new type and is restored; undefined if there is none. */
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

/** The table that a reference points to; undefined if it does not exist. */
export interface ReferenceTarget {
  readonly table: string | undefined;
}

/** A query for rows that block a step. It runs before any step is performed. */
export interface Precondition {
  readonly field?: string;
  readonly query: Sql;
  /** Returns the reason for a refusal, or undefined if these rows do not block the step. */
  refuse(rows: readonly Readonly<Record<string, unknown>>[]): Refusal | undefined;
}

/** The reason why a step is blocked, and what to do about it. */
export interface Refusal {
  readonly reason: string;
  /** The number of rows that block the step. */
  readonly rows?: number;
  /** Ids of the first of these rows. */
  readonly ids?: readonly string[];
}

/** The plan of one resource, derived from definitions and tables alone. Its preconditions have not run yet. */
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

/** Returns the plain data of a draft step. */
export function toStep({ statements: _s, deferred: _d, affected: _a, conversion: _c, definitionChanges: _n, ...step }: DraftStep): Step {
  return step;
}

/** Increase it when the same definitions lead to other tables than before: each database is then compared again at its next start. */
const TABLES_VERSION = 1;

const definitionHashes = new WeakMap<Definitions, string>();

/** Returns the SHA-256 of all definitions as written, those of the system included. */
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
 * Returns the SHA-256 of a plan. It leaves out numbers that change while the service runs, such as the rows that get a default. It
 * includes the affected rows of lossy steps: a confirmation for two lost values does not cover a third.
 */
export function hashPlan(steps: readonly Step[], definitions: Definitions): string {
  const hashed = steps.map(({ resource, kind, risk, field, from, sql, rows, ids }) => {
    const loss = NEEDS_CONFIRMATION.has(risk) ? { rows, ids } : {};
    return { resource, kind, risk, field, from, sql, ...loss };
  });
  const hashes = [...definitions.values()].map(({ name, hash }) => [name, hash] as const);
  return hashJson([hashed, hashes.sort(([a], [b]) => (a < b ? -1 : 1))]);
}

/** Independent of the order of keys. */
function hashJson(value: unknown): string {
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  return createHash('sha256').update(text).digest('hex');
}
