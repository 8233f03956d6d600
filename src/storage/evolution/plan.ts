import { type RawBuilder, sql } from 'kysely';

/** What a step does. The first six touch a table; the others change what is in force. */
export type StepKind =
  | 'createTable'
  | 'addColumn'
  | 'renameColumn'
  | 'backfill'
  | 'createIndex'
  | 'dropIndex'
  | 'keepAside'
  | 'bringBack'
  | 'redefine';

/** One step that loses nothing. */
export interface Step {
  readonly resource: string;
  readonly kind: StepKind;
  /** What it does and why, in words. */
  readonly reason: string;
  /** The field it is about, where it is about one; of a rename, its name before. */
  readonly field?: string;
  /** The one statement that does it; none where only what is in force changes. Values stand as parameters. */
  readonly statement?: RawBuilder<unknown>;
  /** The same for people to read. */
  readonly sql: readonly string[];
}

/** What cannot be done without losing or breaking something: the resource stays as it was. */
export interface Refusal {
  readonly resource: string;
  /** What stands in the way, what to do about it. */
  readonly reason: string;
}

/** What has to be done for tables to follow definitions. */
export interface Plan {
  readonly steps: readonly Step[];
  readonly refusals: readonly Refusal[];
}

/** Rows that would be in the way of a step: asked before anything is done. */
export interface Obstacle {
  readonly query: RawBuilder<unknown>;
  /** What the rows that came back mean, in words; undefined where they are not in the way. */
  refuse(rows: readonly Readonly<Record<string, unknown>>[]): string | undefined;
}

/** A step, and how many rows it concerns where it is to be left out when there are none. */
export interface DraftStep extends Step {
  readonly concerns?: RawBuilder<unknown>;
}

/** A plan for one resource as far as definitions and tables say it; rows have the last word. */
export interface Draft {
  readonly resource: string;
  readonly steps: readonly DraftStep[];
  readonly refusals: readonly string[];
  readonly obstacles: readonly Obstacle[];
}

interface StepParts extends Pick<DraftStep, 'kind' | 'reason'> {
  readonly field?: string;
  /** SQL without values. */
  readonly text?: string;
}

/** A step whose SQL holds no values. */
export function toStep(resource: string, { text, ...parts }: StepParts): DraftStep {
  return { resource, ...parts, ...(text === undefined ? { sql: [] } : { sql: [text], statement: sql.raw(text) }) };
}
