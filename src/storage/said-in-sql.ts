import { type Comparison, toSql } from '../condition/index.ts';
import type { Definitions, Resource } from '../resource/index.ts';
import { type Moment, sqlTargetFor } from './sql-target.ts';

/** Whether the database answers a comparison of a resource's field with a literal exactly. */
export function isSaidInSql(comparison: Comparison, resource: Resource, moment: Moment & { readonly definitions: Definitions }): boolean {
  return toSql(comparison, sqlTargetFor(resource, moment.definitions, moment)).exact;
}
