import { Problem } from '../errors.ts';
import { checkLastAdmin, revokeSessions } from '../identity/index.ts';
import type { Resource } from '../resource/index.ts';
import { deleteRecord, findReferrers, loadRecord, type Referrer, removeAssignmentsOf, updateRecord } from '../storage/index.ts';
import { decideOrRefuse } from './decide.ts';
import type { Job } from './job.ts';

interface Target {
  readonly resource: Resource;
  readonly id: string;
  /** The records whose deletion asks for this one's, the caller's own first. */
  readonly above?: readonly Target[];
}

const MAX_DEPTH = 8;

/**
 * Deletes a record, and before it does to those that refer to it what their definitions say: `restrict` refuses, `setNull`
 * empties the reference, `cascade` deletes the referring record too, and only where the caller may: each leaves its own entry.
 */
export async function deleteWithReferrers(job: Job, target: Target): Promise<void> {
  const { resource, id } = target;
  // Here, so that no cascade ends a user otherwise than a request for that user would.
  if (resource.name === 'User') {
    await checkLastAdmin(job.tx, { userId: id, deleted: true });
    await revokeSessions(job.tx, id);
    await removeAssignmentsOf(job.tx, id, { by: job.principal.id ?? job.principal.role });
  }
  for (const referrer of await findReferrers(job.tx, job.model.definitions, target)) await release(job, target, referrer);
  await deleteRecord(job.tx, resource, id);
}

async function release(job: Job, target: Target, { resource, field, onDelete, ids, more }: Referrer): Promise<void> {
  const { above = [] } = target;
  const name = `${resource.name}.${field.name}`;
  // A record that refers to itself is not in its own way.
  const others = ids.filter((id) => !isSame({ resource, id }, target));
  if (others.length === 0 && !more) return;
  if (onDelete === 'restrict') throw new Problem('RECORD_REFERENCED', `${name} refers to this ${target.resource.name}`);
  if (more || above.length >= MAX_DEPTH)
    throw new Problem('RECORD_REFERENCED', `too many records refer to this ${target.resource.name} through ${name} to delete at once`);
  for (const id of others) {
    const record = await loadRecord(job.tx, resource, id);
    if (record === undefined) continue;
    // In a circle the first record, too, refers to one that goes before it.
    if (onDelete === 'setNull' || above.some((one) => isSame({ resource, id }, one))) {
      await updateRecord(job.tx, resource, { id, version: record.version, values: {}, cleared: [field.name], now: job.tx.now });
      continue;
    }
    await decideOrRefuse(job, { resource, action: 'delete', record, recordId: id });
    await deleteWithReferrers(job, { resource, id, above: [...above, target] });
  }
}

function isSame(a: Target, b: Target): boolean {
  return a.id === b.id && a.resource.name === b.resource.name;
}
