/** The types of calls: `bailiwick types` generates one `ResourceTypes` per resource, and the types below derive each call from it. */
import type { DeletionPreview } from './generated/service-types.ts';

/** The types of one resource. */
export interface ResourceTypes {
  /** A complete record of a response. */
  readonly record: object;
  /** The values of a create. */
  readonly create: object;
  /** The values of an update. */
  readonly update: object;
  /** The filter of a list. */
  readonly where: object;
  /** The names of the fields that can be sorted by. */
  readonly sort: string;
  /** The resources behind references, by field name; as an array for a list of references. */
  readonly references: object;
  /** The references to this resource, as `Resource.field`. */
  readonly referencedBy: string;
}

/** A record that the caller may not read after the change. */
export interface ChangedRecord {
  readonly id: string;
  readonly version: number;
}

/** A record of a resource. */
export type RecordOf<T> = T extends { readonly record: infer R extends object } ? R : never;
/** The values of a create. */
export type CreateOf<T> = T extends { readonly create: infer V } ? V : never;
/** The values of an update. */
export type UpdateOf<T> = T extends { readonly update: infer V } ? V : never;
type WhereOf<T> = T extends { readonly where: infer W } ? W : never;
type SortOf<T> = T extends { readonly sort: infer S extends string } ? S : never;
type ReferencesOf<T> = T extends { readonly references: infer R extends object } ? R : never;
type ReferencedBy<T> = T extends { readonly referencedBy: infer S extends string } ? S : never;
/** The name of a field of a record. */
export type FieldOf<T> = keyof RecordOf<T> & string;

/** A filter of `createIfNotExists` and `updateIfExists`. */
export type FilterOf<T> = WhereOf<T>;

/** A member of `expand`: a reference, or `name:Resource.field` with an optional limit in parentheses. */
export type ExpansionOf<T> =
  | (keyof ReferencesOf<T> & string)
  | (ReferencedBy<T> extends infer S extends string ? `${string}:${S}` | `${string}:${S}(${number})` : never);

/** The records that `expand` adds, by name. */
type ExpandedOf<Resources, T, E extends string> = {
  readonly [K in E as K extends `${infer Name}:${string}` ? Name : K]: K extends `${string}:${infer From}.${string}`
    ? readonly RecordOf<Resources[From & keyof Resources]>[]
    : K extends keyof ReferencesOf<T>
      ? ExpandedReference<Resources, ReferencesOf<T>[K]>
      : never;
};

type ExpandedReference<Resources, To> = To extends readonly [infer Item]
  ? readonly RecordOf<Resources[Item & keyof Resources]>[]
  : RecordOf<Resources[To & keyof Resources]> | null;

/** A record as `fields` and `expand` select it. */
export type Selected<Resources, T, F extends string, E extends string> = ([F] extends [never]
  ? Omit<RecordOf<T>, never>
  : Pick<RecordOf<T>, (F | 'id') & keyof RecordOf<T>>) &
  ([E] extends [never] ? unknown : { readonly expand: ExpandedOf<Resources, T, E> });

/** The options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** The members of each record of a response. */
export interface Selection<F extends string, E extends string> {
  /** The fields to return. `id` is always returned. */
  readonly fields?: Names<F> | undefined;
  /** The references, or referencing records, to return with each record. */
  readonly expand?: Names<E> | undefined;
}

/** A list of names. The service refuses an empty one, in which no name has a type. */
type Names<N extends string> = readonly N[] & ([N] extends [never] ? never : unknown);

/** The query of a list. */
export interface ListQuery<T, F extends string, E extends string> extends Selection<F, E>, CallOptions {
  readonly where?: WhereOf<T> | undefined;
  /** Field names; `-` sorts descending. */
  readonly sort?: SortKey<T> | readonly SortKey<T>[] | undefined;
  /** Records per page, 1 to 1000; 50 by default. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** True to count all matching records. */
  readonly total?: boolean | undefined;
}

type SortKey<T> = SortOf<T> | `-${SortOf<T>}`;

/** A page of records. */
export interface Page<R> {
  readonly data: readonly R[];
  readonly count: number;
  /** Absent on the last page. */
  readonly nextCursor?: string;
  readonly total?: number | undefined;
  /** Reasons why the page ended early or has no total. */
  readonly warnings?: readonly string[];
}

/** Options of a change. */
export interface ChangeOptions extends CallOptions {
  /** The version that was read. The change fails with 412 if the record has changed since. */
  readonly ifMatch?: number | undefined;
}

/** The calls of one resource. Each of them throws ProblemError if the service refuses it. */
export interface ResourceClient<Resources, T> {
  /** Returns a page of records. */
  list<const F extends FieldOf<T> = never, const E extends ExpansionOf<T> = never>(
    query?: ListQuery<T, F, E>,
  ): Promise<Page<Selected<Resources, T, F, E>>>;
  /** Iterates over all records, page by page. `limit` is the size of a page. */
  all<const F extends FieldOf<T> = never, const E extends ExpansionOf<T> = never>(
    query?: Omit<ListQuery<T, F, E>, 'total'>,
  ): AsyncGenerator<Selected<Resources, T, F, E>, void>;
  read<const F extends FieldOf<T> = never, const E extends ExpansionOf<T> = never>(
    id: string,
    options?: Selection<F, E> & CallOptions,
  ): Promise<Selected<Resources, T, F, E>>;
  create(values: CreateOf<T>, options?: CallOptions): Promise<RecordOf<T>>;
  /** Returns the record, or its id and version if the caller may not read it after the change. */
  update(id: string, values: UpdateOf<T>, options?: ChangeOptions): Promise<RecordOf<T> | ChangedRecord>;
  delete(id: string, options?: ChangeOptions): Promise<void>;
  /** Returns what a deletion would do, without deleting. */
  previewDeletion(id: string, options?: ChangeOptions): Promise<DeletionPreview>;
  /** Restores a soft-deleted record. */
  restore(id: string, options?: ChangeOptions): Promise<void>;
  /** Creates a record unless one matches the filter. Returns the record that exists afterwards. */
  createIfNotExists(
    filter: FilterOf<T>,
    values: CreateOf<T>,
    options?: CallOptions,
  ): Promise<{ readonly created: boolean; readonly data: RecordOf<T> }>;
  /** Updates the record that matches the filter, if there is one. */
  updateIfExists(
    filter: FilterOf<T>,
    values: UpdateOf<T>,
    options?: CallOptions,
  ): Promise<{ readonly updated: boolean; readonly data: RecordOf<T> | ChangedRecord | null }>;
}
