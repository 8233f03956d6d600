import { Problem } from '../errors.ts';
import { checkLastAdmin, revokeSessions } from '../identity/index.ts';
import type { StoredRecord } from '../resource/index.ts';
import {
  deleteRecord,
  emptyReferences,
  findReferrers,
  loadRecord,
  type RecordName,
  type Referrer,
  referrersTo,
  removeAssignmentsOf,
  updateRecord,
} from '../storage/index.ts';
import { decideOrRefuse } from './decide.ts';
import type { Job } from './job.ts';
import { createTally } from './tally.ts';

interface Target extends RecordName {
  /** The records whose deletion asks for this one's, the caller's own first. */
  readonly above?: readonly RecordName[];
}

/** References in a row that a deletion follows. */
const MAX_DEPTH = 8;
/** Referring records loaded at once. */
const PAGE = 100;

const cascaded = createTally();

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
  for (const referrer of referrersTo(job.model.definitions, target)) await release(job, target, referrer);
  await deleteRecord(job.tx, resource, id);
}

async function release(job: Job, target: Target, referrer: Referrer): Promise<void> {
  if (referrer.onDelete === 'setNull') return emptyReferences(job.tx, referrer);
  if (referrer.onDelete === 'cascade') return deleteReferrers(job, target, referrer);
  const [first] = await findReferrers(job.tx, referrer, { after: '', limit: 1 });
  if (first === undefined) return;
  throw referred(`${nameOf(referrer)} refers to this ${target.resource.name}: whatever does so has to be deleted or changed first`);
}

async function deleteReferrers(job: Job, target: Target, referrer: Referrer): Promise<void> {
  for (let after = ''; ; ) {
    const ids = await findReferrers(job.tx, referrer, { after, limit: PAGE });
    for (const id of ids) {
      // One of those before may have taken it along, or changed it.
      const record = await loadRecord(job.tx, referrer.resource, id);
      if (record !== undefined) await deleteReferrer(job, target, { referrer, record });
    }
    const last = ids.at(-1);
    if (last === undefined || ids.length < PAGE) return;
    after = last;
  }
}

interface Referring {
  readonly referrer: Referrer;
  readonly record: StoredRecord;
}

async function deleteReferrer(job: Job, target: Target, { referrer, record }: Referring): Promise<void> {
  const { above = [] } = target;
  const { resource, field } = referrer;
  const { id, version } = record;
  // In a circle the first record, too, refers to one that goes before it.
  if (above.some((one) => one.id === id && one.resource.name === resource.name)) {
    await updateRecord(job.tx, resource, { id, version, values: {}, cleared: [field.name], now: job.tx.now });
    return;
  }
  if (above.length >= MAX_DEPTH)
    throw referred(`more than ${MAX_DEPTH} references in a row lead to this record; delete what refers by ${nameOf(referrer)} first`);
  if (cascaded(job.tx, 1) > job.settings.cascadeMax)
    throw referred(
      `more than ${job.settings.cascadeMax} records would have to go with this one; delete some that refer by ${nameOf(referrer)} first`,
    );
  await decideOrRefuse(job, { resource, action: 'delete', record, recordId: id });
  await deleteWithReferrers(job, { resource, id, above: [...above, target] });
}

function referred(detail: string): Problem {
  return new Problem('RECORD_REFERENCED', detail);
}

/** Nobody learns the name of a secret field by deleting what it refers to. */
function nameOf({ resource, field }: Referrer): string {
  return field.writeOnly ? resource.name : `${resource.name}.${field.name}`;
}
