import type { Field } from '../fields/index.ts';
import type { JsonObject } from '../operators/index.ts';

/** An index over several fields. */
export interface ResourceIndex {
  readonly fields: readonly string[];
  readonly unique: boolean;
  /** For a partial index: the canonical field values that a record must have to be indexed, sorted by field name. */
  readonly where?: JsonObject;
}

/** A validated definition. Frozen. */
export interface Resource {
  readonly name: string;
  readonly description?: string | undefined;
  /** The previous name; the migration keeps the records. */
  readonly renamedFrom?: string | undefined;
  /**
   * The fields by name: first the automatic ones (`id`, `version`, `createdAt`, `updatedAt`, `createdBy`, with `softDelete` also
   * `deletedAt` and `deletedBy`), then the fields of the file in its order. A Map is safe for names that clients send, such as `constructor`.
   */
  readonly fields: ReadonlyMap<string, Field>;
  readonly indexes: readonly ResourceIndex[];
  /** For a system table: the timestamp field by whose day PostgreSQL partitions the table. */
  readonly partitionBy?: string | undefined;
  /** The legacy permissions map, action name → roles; not enforced. */
  readonly permissions: ReadonlyMap<string, readonly string[]>;
  /** The name of the field that refers to the parent of a record; absent if the records form no hierarchy. */
  readonly hierarchy?: string | undefined;
  /** True if deleted records are kept, hidden, until they are restored or pruned. */
  readonly softDelete: boolean;
  /** True if each record has a checksum, which is compared when the record is loaded. Those of users are compared at other times. */
  readonly checksum: boolean;
  /** True for system tables without record endpoints. User is not internal. */
  readonly internal: boolean;
  /** The definition as written, for the table of applied definitions. */
  readonly source: JsonObject;
  /** SHA-256 over the parts that affect storage and validation; excludes descriptions. */
  readonly hash: string;
}

/** All definitions by resource name. */
export type Definitions = ReadonlyMap<string, Resource>;

/** Returns the resources that requests and rules can name: those of the project and User. */
export function ordinaryResources(definitions: Definitions): readonly Resource[] {
  return [...definitions.values()].filter(({ internal }) => !internal);
}

/** A stored record: `id`, `version`, `createdAt`, `updatedAt`, `createdBy` and its fields; a field without a value is absent. */
export type StoredRecord = JsonObject & { readonly id: string; readonly version: number };

/** Returns the unique constraints of a resource: its unique fields and unique indexes. */
export function uniqueKeysOf({ fields, indexes }: Resource): readonly Pick<ResourceIndex, 'fields' | 'where'>[] {
  const ofFields = [...fields.values()].filter(({ unique }) => unique).map(({ name }) => ({ fields: [name] }));
  return [...ofFields, ...indexes.filter(({ unique }) => unique)];
}
