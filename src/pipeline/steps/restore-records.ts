import { type Issue, MAX_ISSUES, Problem } from '../../errors.ts';
import type { Resource, StoredRecord } from '../../resources/index.ts';
import {
  findDanglingReferences,
  findDeletedTogether,
  type ReferencingField,
  referencingFieldsTo,
  restoreRecord,
} from '../../storage/index.ts';
import type { Decided, RequestContext, Result } from '../request-context.ts';
import { createUsageCounter } from '../usage-counter.ts';
import { requireWriteTime } from '../write-time.ts';
import { authorizeEach } from './decide-request.ts';
import { MAX_DEPTH } from './plan-deletion.ts';
import { translateConstraints } from './translate-constraints.ts';

/** Maximum number of records loaded at once. */
const PAGE = 100;

const countRestored = createUsageCounter();

/**
 * Restores the soft-deleted record and the records that were deleted with it by `cascade`, all or none. Each record is decided and
 * has its own audit entry. Records were deleted together if the same user deleted them in the same millisecond. Accepted risk: a record that the user
 * deleted separately in that millisecond, as in a batch, is restored too; it can be deleted again.
 *
 * Records are found level by level and decided as they were found, after they are restored, so the result does not depend on the
 * order of definitions or records.
 */
export async function restoreRecords(context: RequestContext, { found }: Decided): Promise<Result> {
  const { resource } = context;
  const record = found[0] as StoredRecord;
  const others = await findDeletedWith(context, record);
  const all = [{ resource, records: [record] }, ...others];
  const conflict = await restoreAll(context, all);
  for (const each of others) {
    const hint = `${each.resource.name} records that were deleted with this ${resource.name} would be restored with it`;
    await authorizeEach(context, { ...each, action: 'delete', hint });
  }
  // Thrown after the decisions: callers who are denied must not learn of other records.
  if (conflict !== undefined) throw conflict;
  await validateReferences(context, all);
  return { status: 200, data: { id: record.id }, extras: { message: `restored ${resource.name} ${record.id}` } };
}

/** Soft-deleted records of one resource. */
interface DeletedRecords {
  readonly resource: Resource;
  readonly records: readonly StoredRecord[];
}

/** Returns the records that were deleted with `record`, in the order in which they were found. */
async function findDeletedWith(context: RequestContext, record: StoredRecord): Promise<readonly DeletedRecords[]> {
  const search: Search = { record, known: new Map([[context.resource, new Set([record.id])]]) };
  const found: DeletedRecords[] = [];
  let newest: readonly DeletedRecords[] = [{ resource: context.resource, records: [record] }];
  for (let depth = 0; newest.length > 0; depth++) {
    const next: DeletedRecords[] = [];
    for (const reference of newest.flatMap((each) => cascadesTo(context, each))) {
      for await (const records of findNext(context, reference, search)) {
        validateBounds(context, { count: records.length, depth });
        next.push({ resource: reference.resource, records });
      }
    }
    found.push(...next);
    newest = next;
  }
  return found;
}

function cascadesTo({ snapshot }: RequestContext, { resource, records }: DeletedRecords): readonly ReferencingField[] {
  const ids = records.map(({ id }) => id);
  return referencingFieldsTo(snapshot.definitions, { resource, ids }).filter(
    (each) => each.onDelete === 'cascade' && each.resource.softDelete,
  );
}

interface Search {
  /** The record of the request. */
  readonly record: StoredRecord;
  /** Ids of the records found so far. */
  readonly known: Map<Resource, Set<string>>;
}

/** Yields pages of referencing records that were deleted together with the record of the request and were not found before. */
async function* findNext(
  { tx }: RequestContext,
  reference: ReferencingField,
  { record, known }: Search,
): AsyncGenerator<readonly StoredRecord[]> {
  const ids = known.get(reference.resource) ?? new Set();
  known.set(reference.resource, ids);
  for (let after = ''; ; ) {
    const page = await findDeletedTogether(tx, reference, { after, limit: PAGE, record });
    const fresh = page.filter(({ id }) => !ids.has(id));
    for (const { id } of fresh) ids.add(id);
    if (fresh.length > 0) yield fresh;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    await tx.checkTime();
    after = last.id;
  }
}

function validateBounds({ tx, options }: RequestContext, { count, depth }: { readonly count: number; readonly depth: number }): void {
  const { cascadeMax } = options;
  if (depth >= MAX_DEPTH) throw new Problem('RECORD_REFERENCED', `a chain of more than ${MAX_DEPTH} references leads to this record`);
  if (countRestored(tx, count) > cascadeMax)
    throw new Problem('RECORD_REFERENCED', `more than ${cascadeMax} records would be restored with this one`);
}

/** Restores all records that violate no unique index; the decisions follow. Returns the problem of the first record that was not restored. */
async function restoreAll(context: RequestContext, all: readonly DeletedRecords[]): Promise<Problem | undefined> {
  const { tx } = context;
  let conflict: Problem | undefined;
  for (const { resource, records } of all) {
    for (const { id } of records) {
      requireWriteTime(context);
      try {
        // PostgreSQL aborts the transaction at a failed statement unless it is in a savepoint.
        await tx.savepoint(() => translateConstraints({ resource }, () => restoreRecord(tx, resource, id)));
      } catch (error) {
        if (!(error instanceof Problem && error.code === 'RECORD_EXISTS')) throw error;
        conflict ??= error;
      }
    }
  }
  return conflict;
}

/** Validates the references of the restored records once all are restored, because records may reference one another in a circle. */
async function validateReferences(context: RequestContext, all: readonly DeletedRecords[]): Promise<void> {
  const { tx, snapshot } = context;
  const errors: Issue[] = [];
  for (const { resource, records } of all) {
    for (const { id } of records) {
      requireWriteTime(context);
      const dangling = await findDanglingReferences(tx, { resource, definitions: snapshot.definitions }, id);
      errors.push(...dangling.map((field) => toIssue(resource, field)));
    }
  }
  if (errors.length > 0)
    throw new Problem('VALUE_INVALID', 'the record, or a record restored with it, refers to records that are deleted or do not exist', {
      errors: errors.slice(0, MAX_ISSUES),
      hint: 'restore the referenced records first',
    });
}

/** Returns an issue without values. The name of a write-only field is left out, because callers must not learn it. */
function toIssue({ name }: Resource, field: { readonly name: string; readonly writeOnly: boolean }): Issue {
  const path = field.writeOnly ? '' : field.name;
  return {
    path,
    code: 'reference',
    detail: `${path === '' ? name : `${name}.${path}`} refers to a record that is deleted or does not exist`,
  };
}
