import type { ReferencedRecords, RelatedRecords } from '../../authz/context/index.ts';
import type { CompiledCondition, Condition, Path, Scope } from '../../conditions/index.ts';
import type { ResolvedSortKey } from '../../request/index.ts';
import type { Definitions, StoredRecord } from '../../resources/index.ts';
import type { PageSize } from '../answer-size.ts';
import type { Budget, SearchLimit } from '../budget.ts';
import type { Existence } from '../table-names.ts';
import type { CursorPosition } from './cursor-pagination.ts';
import type { KeptPage } from './first-page.ts';
import type { ResourceTarget } from './sql-target.ts';

/** Other records that the conditions on a record read. */
export interface ReachedRecords {
  readonly referenced: ReferencedRecords;
  readonly related: RelatedRecords;
}

/** The compiled condition of a list. */
export interface CompiledList {
  readonly condition: Condition;
  readonly existence: Existence | undefined;
  readonly target: ResourceTarget;
  readonly compiled: CompiledCondition;
  /** The paths that the condition reads. */
  readonly paths: readonly Path[];
  /** The names of the resources whose records the condition reads in addition to those of its own resource. */
  readonly reads: ReadonlySet<string>;
  /** A key that is equal for lists with the same compiled condition; absent if it is not kept. */
  readonly key?: string | undefined;
  /** The kept statement of the first page; absent if the compiled condition is not kept. */
  readonly keptPage?: KeptPage | undefined;
}

/** A state of the records of some resources. */
export interface MarkedState {
  /** The names of the resources. */
  readonly dependsOn: ReadonlySet<string>;
  /** Their write marks. */
  readonly marks: string;
}

/** The records to list: exactly those for which the condition is true. */
export interface Restriction {
  readonly where: Condition;
  /**
   * The part of `where` that decides access, if `where` has others. If it reads other records, the commit validates that the listed records
   * still match it.
   */
  readonly decided?: Condition | undefined;
  /**
   * Returns the scope to evaluate the condition in memory on one record, with the records that it references and the related records. Called
   * only if SQL cannot evaluate the whole condition.
   */
  scopeFor(record: StoredRecord, reached: ReachedRecords): Scope;
  /** True if an index finds the records by several values, so that they have to be sorted. */
  readonly findsByValues?: boolean | undefined;
  /** The state of the records from which these values were loaded; absent if the statements of a transaction all see one state. */
  readonly loadedFrom?: MarkedState | undefined;
  /** `where` in SQL, if it has been compiled before. */
  readonly compiled?: CompiledList | undefined;
}

/** The query of a list. */
export interface ListQuery extends Restriction {
  /** A second condition with a scope of its own: that of a decision on another action. */
  readonly and?: Restriction | undefined;
  /** Which records to list; those that are not deleted if absent. */
  readonly existence?: Existence | undefined;
  /** The definitions of the referenced resources. */
  readonly definitions: Definitions;
  /** The sort keys; sorted by id if empty. */
  readonly sort: readonly ResolvedSortKey[];
  /** Maximum records of the page. With 0, no page is searched. */
  readonly limit: number;
  readonly offset?: number | undefined;
  /** `next` of the previous page. */
  readonly after?: CursorPosition | undefined;
  /** True to count all matching records. */
  readonly total?: boolean | undefined;
  /** The budget of the request: a page ends early when it is used up. */
  readonly budget: Budget;
  /** True if an index limits the rows that the filter can match, so that the statements need no deadline check. */
  readonly isIndexed?: boolean | undefined;
  /** Receives the records of the page; by default, they are a part of the answer. */
  readonly size?: PageSize | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly timeZone: string;
}

/** One page of a list. */
export interface Page {
  readonly records: readonly StoredRecord[];
  /** The position of the next page; absent at the end. */
  readonly next?: CursorPosition;
  /** Number of matching records, if requested. */
  readonly total?: number;
  /**
   * The reason why a requested total is absent: conditions are evaluated in memory, the budget does not suffice, or records changed each time
   * while they were counted.
   */
  readonly withoutTotal?: 'inMemory' | 'budget' | 'changes';
  /** The limit that ended the page before it was full; more records may follow at `next`. */
  readonly truncated?: SearchLimit | 'answerBytes';
}
