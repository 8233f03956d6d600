import { createHash } from 'node:crypto';
import type { Definitions } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { DefinitionRow } from './applied-definitions.ts';
import type { Conversion } from './conversion.ts';

/** What a step does. The first ten and `dropRecords` touch a table; the others change what is in force, and the last says why nothing does. */
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
 * What a step costs. `safe` touches no value; `needs-backfill` writes values and loses none; `lossy` leaves values behind
 * that cannot follow; `destructive` deletes them for good; `blocked` cannot be done as things are.
 */
export type Risk = 'safe' | 'needs-backfill' | 'lossy' | 'destructive' | 'blocked';

/** Risks that somebody has to allow, plan by plan. */
export const NEEDS_CONFIRMATION: ReadonlySet<Risk> = new Set(['lossy', 'destructive']);

/** A rule of a policy, for people to find it. */
export interface RuleName {
  readonly policyId: string;
  readonly policy: string;
  readonly ruleId: string;
  /** Its description, or its place: `rule 2`. */
  readonly rule: string;
}

/** One step. Plain data. */
export interface Step {
  readonly resource: string;
  readonly kind: StepKind;
  readonly risk: Risk;
  /** What it does and why, or what stands in its way, in words. */
  readonly reason: string;
  /** The field it is about, where it is about one. */
  readonly field?: string;
  /** Of a rename, the name before: of the field where there is one, else of the resource. */
  readonly from?: string;
  /** How many rows it concerns, where that was counted. */
  readonly rows?: number;
  /** Ids of the first records that would lose a value. */
  readonly ids?: readonly string[];
  /** Rules that read what it is about. */
  readonly rules?: readonly RuleName[];
  /** Its SQL for people to read. Values stand as parameters. */
  readonly sql: readonly string[];
}

/** What has to be done for tables to follow definitions. Plain data. */
export interface Plan {
  /** SHA-256 over the steps and the definitions: the same for the same, on every machine; another once anything else would be lost. */
  readonly hash: string;
  readonly steps: readonly Step[];
  /** Resources that stay wholly as they were, because a step of theirs is blocked, or asks first and is not allowed. */
  readonly held: readonly string[];
}

/** A change of what is on the record about definitions. */
export type DefinitionChange = { readonly keep: DefinitionRow } | { readonly drop: string };

/** A step as it is planned: how it is done, and what rows have to say first. */
export interface DraftStep extends Step {
  /** Done one after the other. */
  readonly statements: readonly Sql[];
  /** Done once all other steps are: what refers to tables that other steps make. */
  readonly last?: readonly Sql[];
  /** Counts the rows concerned; the step is left out where there are none. */
  readonly concerns?: Sql;
  /** Values that are worked out before anything is done; what becomes of them says how risky the step is. */
  readonly conversion?: Conversion;
  readonly notes?: readonly DefinitionChange[];
}

/** Rows that would be in the way of a step: asked before anything is done. */
export interface Precondition {
  readonly field?: string;
  readonly query: Sql;
  /** What the rows that came back mean; undefined where they are not in the way. */
  refuse(rows: readonly Readonly<Record<string, unknown>>[]): Refusal | undefined;
}

/** What is in the way, and what to do about it. */
export interface Refusal {
  readonly reason: string;
  /** How many rows are. */
  readonly rows?: number;
  /** Ids of the first of them. */
  readonly ids?: readonly string[];
}

/** A plan for one resource as far as definitions and tables say it; rows have the last word. */
export interface ResourceDraft {
  readonly resource: string;
  readonly steps: readonly DraftStep[];
  readonly refusals: readonly string[];
  readonly obstacles: readonly Precondition[];
}

interface StepParts extends Pick<DraftStep, 'kind' | 'reason' | 'notes'> {
  readonly risk?: Risk;
  readonly field?: string;
  /** SQL without values. */
  readonly texts?: readonly string[];
}

/** A step whose SQL holds no values; safe unless it says otherwise. */
export function createStep(resource: string, { texts = [], risk = 'safe', ...parts }: StepParts): DraftStep {
  return { resource, risk, ...parts, sql: texts, statements: texts.map((text) => sql.raw(text)) };
}

/** A step that says why there is none. */
export function createBlockedStep(resource: string, { field, ...refusal }: Refusal & { readonly field?: string | undefined }): DraftStep {
  return { resource, kind: 'stay', risk: 'blocked', ...refusal, ...(field !== undefined && { field }), sql: [], statements: [] };
}

/** What people are shown of a step. */
export function toStep({ statements: _s, last: _l, concerns: _c, conversion: _v, notes: _n, ...step }: DraftStep): Step {
  return step;
}

/** Raised where the same definitions come to other tables than before: the next start looks at them again. */
const TABLES_VERSION = 1;

const known = new WeakMap<Definitions, string>();

/** SHA-256 of definitions as written, the program's own among them: the same as long as nothing at all is said otherwise. */
export function hashDefinitions(definitions: Definitions): string {
  let hash = known.get(definitions);
  if (hash === undefined) {
    const sources = [...definitions.values()].map(({ name, source }) => [name, source] as const);
    hash = digest([TABLES_VERSION, sources.sort(([a], [b]) => (a < b ? -1 : 1))]);
    known.set(definitions, hash);
  }
  return hash;
}

/**
 * SHA-256 of a plan. What comes and goes while the service runs is left out (how many rows are to be given a default),
 * what would be lost is not: whoever allowed the loss of two values has not allowed that of three.
 */
export function hashPlan(steps: readonly Step[], definitions: Definitions): string {
  const essence = steps.map(({ resource, kind, risk, field, from, sql, rows, ids }) => {
    const loss = risk === 'lossy' || risk === 'destructive' ? { rows, ids } : {};
    return { resource, kind, risk, field, from, sql, ...loss };
  });
  const hashes = [...definitions.values()].map(({ name, hash }) => [name, hash] as const);
  return digest([essence, hashes.sort(([a], [b]) => (a < b ? -1 : 1))]);
}

function digest(value: unknown): string {
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  return createHash('sha256').update(text).digest('hex');
}
