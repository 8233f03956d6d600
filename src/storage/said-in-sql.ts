import { type Condition, toSql } from '../condition/index.ts';
import type { Definitions, Resource } from '../resource/index.ts';
import { type Moment, sqlTargetFor } from './sql-target.ts';

/** Returns whether the database evaluates a condition on a resource's fields exactly. */
export function isSaidInSql(condition: Condition, resource: Resource, moment: Moment & { readonly definitions: Definitions }): boolean {
  return toSql(condition, sqlTargetFor(resource, moment.definitions, moment)).exact;
}
