/** Explanations of conditions as plain JSON. */
import type { Json } from '../operators/index.ts';

/** The result of a condition; `open` if it depends on a record that is not known yet, as in a list. */
export type TracedAnswer = 'true' | 'false' | 'unknown' | 'open';

/** A condition with the values that it was evaluated with, as plain JSON. Contains attribute values, so only admins may read a trace. */
export type ConditionTrace =
  | ComparisonTrace
  | { readonly type: 'all' | 'any'; readonly answer: TracedAnswer; readonly of: readonly ConditionTrace[] }
  | { readonly type: 'not'; readonly answer: TracedAnswer; readonly of: ConditionTrace }
  | { readonly type: 'expression'; readonly source: string; readonly answer: TracedAnswer }
  | RelatedTrace
  | { readonly type: 'constant'; readonly answer: TracedAnswer };

/** A comparison with its values. */
export interface ComparisonTrace {
  readonly type: 'comparison';
  readonly field: string;
  readonly operator: string;
  /** The operand with its references resolved; absent if a reference has no value or reads the unknown record. */
  readonly expected?: Json;
  /** The operand as written; absent for a literal, unless it is too long. */
  readonly written?: string;
  readonly actual?: Json;
  /** Present if the path has no value. */
  readonly missing?: true;
  readonly ifExists?: true;
  /** For `within`, the compared records; absent if they are not known. */
  readonly ancestors?: AncestorsTrace;
  readonly answer: TracedAnswer;
}

/** The records that a condition on ancestors compares. */
export interface AncestorsTrace {
  readonly resource: string;
  /** Ids of the existing records, from the first one upwards. */
  readonly ids: readonly string[];
  /** The first of them that is among the expected ids. */
  readonly matched?: string;
  /** The reason why there are no more: the last one has no parent, its parent does not exist, they form a cycle, or there are too many. */
  readonly end: 'root' | 'missing' | 'cycle' | 'limit';
}

/** A condition on related records with the records that decide it. Contains attribute values, so only admins may read it. */
export interface RelatedTrace {
  readonly type: 'related';
  readonly resource: string;
  readonly as: string;
  /** For a comparison through a list of references, the path of the list; `on` has its items. */
  readonly list?: string;
  readonly on: readonly RelatedLinkTrace[];
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly answer: TracedAnswer;
  /** The condition on a related record; present if the related records are not known, unless each one counts, and for a list without records. */
  readonly where?: ConditionTrace;
  /** The number of related records by their result of `where`; absent if they are not known. */
  readonly counts?: Readonly<Record<'true' | 'false' | 'unknown', number>>;
  /** The maximum number of records that the condition counts; present if there are more, so that it is unknown. */
  readonly moreThan?: number;
  /** At most `MAX_RECORDS` records: those that meet `where` first, then those with the fewest unmet comparisons. */
  readonly records?: readonly RelatedRecordTrace[];
}

/** A field of the related resource, and the value that it is equal to; `missing` if the value is missing. */
export interface RelatedLinkTrace {
  readonly field: string;
  readonly expected?: Json;
  /** The operand as written; present if its value is not known. */
  readonly written?: string;
  readonly missing?: true;
}

/** A related record and its result of `where`. */
export interface RelatedRecordTrace {
  readonly id: string;
  /** Present for an item of a list that leads to no record. */
  readonly missing?: true;
  readonly answer: TracedAnswer;
  readonly where: ConditionTrace;
}
