import { deleteAddressesOf, revokeSessions, validateAdminRemains } from '../../authn/index.ts';
import { Problem } from '../../errors.ts';
import type { Resource } from '../../resources/index.ts';
import { clearReferences, deleteRecord, deleteViewsOf, type RecordId, removeAssignmentsOf, TimeLimit } from '../../storage/index.ts';
import type { RequestContext } from '../request-context.ts';
import { type DeletionObserver, type DeletionPlan, planDeletion } from './plan-deletion.ts';

/**
 * Deletes a record and treats the records that reference it by their definitions: `restrict` refuses the deletion, `setNull`
 * empties the reference, and `cascade` deletes the referencing record if the caller may delete it, with its own audit entry.
 */
export async function deleteWithReferencing(context: RequestContext, target: RecordId): Promise<void> {
  await explainTimeLimit(async () => performDeletion(context, await planDeletion(context, target, REFUSING)));
}

/** Ends the search for a plan at the first reason against the deletion. */
const REFUSING: DeletionObserver = {
  async refuse({ problem }) {
    throw problem;
  },
  async cascade() {
    // The plan contains the records.
  },
};

/** Runs `work`. If the time is up, throws REQUEST_BUDGET with the advice for deletions. */
export async function explainTimeLimit<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TimeLimit)) throw error;
    const hint = 'delete or change the referencing records first, in several requests';
    throw new Problem('REQUEST_BUDGET', error.detail, { hint, cause: error });
  }
}

/**
 * Writes a plan. The resource of each record determines whether it is soft-deleted or removed. A soft-deleted record still has its
 * references, so the records that it references cannot be removed.
 */
export async function performDeletion(context: RequestContext, { deletions, toClear }: DeletionPlan): Promise<void> {
  for (const each of toClear) await clearReferences(context.tx, each);
  for (const [resource, ids] of deletions) for (const id of ids) await deleteOne(context, resource, id);
}

async function deleteOne(context: RequestContext, resource: Resource, id: string): Promise<void> {
  await context.tx.checkTime();
  // Applies to users deleted by a cascade as well as to users deleted by a request.
  if (resource.name === 'User') {
    await validateAdminRemains(context.tx, { userId: id, deleted: true });
    await revokeSessions(context.tx, id);
    await deleteViewsOf(context.tx, id);
    await deleteAddressesOf(context.tx, id);
    await removeAssignmentsOf(context.tx, id, { by: context.principal.id ?? context.principal.role });
  }
  await deleteRecord(context.tx, resource, { id, by: context.principal.id });
}
