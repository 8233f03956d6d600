import type { Field } from '../fields/index.ts';
import type { JsonObject } from '../operators/index.ts';

/** An index over several fields. */
export interface ResourceIndex {
  readonly fields: readonly string[];
  readonly unique: boolean;
  /** Values that records must have to stand in it, canonical, in the order of their fields' names; without it, all records do. */
  readonly where?: JsonObject;
}

/** A resource as its definition file says it, checked. Frozen. */
export interface Resource {
  readonly name: string;
  readonly description?: string | undefined;
  /** The name it had before: its records are kept. */
  readonly renamedFrom?: string | undefined;
  /**
   * Every field by name, in the order of the file, after the five that each record has by itself:
   * `id`, `version`, `createdAt`, `updatedAt`, `createdBy` (all readOnly), and with `softDelete` also `deletedAt` and
   * `deletedBy`. A Map: names from outside never meet an object.
   */
  readonly fields: ReadonlyMap<string, Field>;
  readonly indexes: readonly ResourceIndex[];
  /** A time field of a table of ours whose rows are kept by its days, each in a partition of its own where the database has such. */
  readonly partitionBy?: string | undefined;
  /** The legacy map, action name → roles; not enforced by itself. */
  readonly permissions: ReadonlyMap<string, readonly string[]>;
  /** Whether deleted records are kept, hidden: nobody meets one but to restore it. */
  readonly softDelete: boolean;
  /** One of the service's own tables: not reachable through the generic routes (User is not internal). */
  readonly internal: boolean;
  /** The definition as written, for the record of applied definitions. */
  readonly source: JsonObject;
  /** SHA-256 over what matters to storage and checks (not descriptions). */
  readonly hash: string;
}

/** All definitions by resource name. */
export type Definitions = ReadonlyMap<string, Resource>;

/** Those that requests and rules can be about: the project's and User, and none of the service's own tables. */
export function ordinaryResources(definitions: Definitions): readonly Resource[] {
  return [...definitions.values()].filter(({ internal }) => !internal);
}

/** A stored record: `id`, `version`, `createdAt`, `updatedAt`, `createdBy` and its fields; a field without a value is absent. */
export type StoredRecord = JsonObject & { readonly id: string; readonly version: number };
