/** The values that the reference decider reads, as plain data. */
import type { Json, JsonObject, Kind, Truth } from '../../src/operators/index.ts';

/** The kind of a path by definition. */
export type PathKind = Kind | `list of ${Kind}`;

/** The result of an expression, written by hand. `valueAt` reads paths. */
export type ExpressionMeaning = (valueAt: (path: string) => Json | undefined) => Truth;

/** All values that conditions read, as plain data. */
export interface Facts {
  /** `user`, `resource`, `environment` and `request`, without secret fields. */
  readonly groups: Readonly<Record<string, JsonObject>>;
  /** Referenced records by path: `resource.authorId` → the fields of that user. */
  readonly referenced: Readonly<Record<string, JsonObject>>;
  /** Kinds by path. Other paths have no kind. */
  readonly kinds: ReadonlyMap<string, PathKind>;
  /** The records that conditions on related records count. */
  readonly related?: RelatedFacts;
  /** The names of the related resources by alias, while `where` is evaluated. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** By alias, the records that the references of the related record lead to, by path after the alias. */
  readonly reached?: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  /** The lists of references whose item is chosen, by path, while a comparison through them is made. */
  readonly chosen?: ReadonlySet<string>;
  /** Receives the results of conditions on related records. */
  readonly onRelated?: (result: RelatedResult) => void;
  /** Meanings by text of the expression, which is not parsed here: an equivalent condition, or a function. */
  readonly expressions?: ReadonlyMap<string, JsonObject | ExpressionMeaning>;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly timeZone: string;
}

/** The result of a condition on related records, or the bound that is the reason for it. */
export type RelatedResult = 'true' | 'false' | 'unknown' | 'aboveAtMost' | 'belowAtLeast' | 'aboveLimit';

/** All records, as plain data. */
export interface RelatedFacts {
  /** Maximum number of related records. */
  readonly limit: number;
  /** The name of the resource of the record that is decided. */
  readonly decided: string;
  /** Returns the records of a resource. */
  recordsOf(resource: string): readonly JsonObject[];
  /** Returns the records that the references of a record lead to, by path after the record. */
  referencedOf(resource: string, record: JsonObject): Readonly<Record<string, JsonObject>>;
  /** Returns a record of a resource. */
  recordOf(resource: string, id: string): JsonObject | undefined;
  /** Returns the hierarchy of the records that a path of a record leads to: their resource, and the field with the id of the parent. */
  hierarchyAt(resource: string, path: string): { readonly resource: string; readonly parent: string } | undefined;
  /** Returns the resource that a field of a resource refers to, by a single reference or by a list. */
  targetOf(resource: string, field: string): { readonly resource: string; readonly isList: boolean } | undefined;
  /** Returns the kind of a path after the alias. */
  kindOf(resource: string, path: string): PathKind | undefined;
}
