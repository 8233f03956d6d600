import { type Issue, Problem } from '../errors.ts';
import type { Resource, StoredRecord } from '../resource/index.ts';
import { findDangling, findDeletedTogether, loadDeletedRecord, type Referrer, referrersTo, restoreRecord } from '../storage/index.ts';
import { MAX_DEPTH } from './cascade.ts';
import { decideOrRefuse } from './decide.ts';
import type { Decided, Job, Result } from './job.ts';
import { translated } from './perform.ts';
import { createTally } from './tally.ts';

/** Records loaded at once. */
const PAGE = 100;

const restored = createTally();

/**
 * Brings the deleted record found back, and those that were deleted with it because they refer to it by `cascade`: each where
 * the caller may, each with its own entry, all or none. That they went with it is told by when and by whom they were deleted:
 * what the same user deleted by itself in the same millisecond, as a batch may, comes back too. Accepted: it may be deleted again.
 */
export async function restore(job: Job, { found }: Decided): Promise<Result> {
  const { resource, model, tx } = job;
  const record = found[0] as StoredRecord;
  const back: Deleted[] = [];
  await bringBack(job, { resource, record, depth: 0 }, back);
  // Once all of them are: in a circle the first, too, refers to one that comes back after it.
  const errors: Issue[] = [];
  for (const one of back) {
    const dangling = await findDangling(tx, { resource: one.resource, definitions: model.definitions }, one.record.id);
    errors.push(...dangling.map((field) => toIssue(one.resource, field)));
  }
  if (errors.length > 0)
    throw new Problem('VALUE_INVALID', 'what it refers to, or what would come back with it does, is gone or deleted', {
      errors: errors.slice(0, MOST_ISSUES),
      hint: 'restore first what is deleted of that',
    });
  return { status: 200, data: { id: record.id }, extras: { message: `restored ${resource.name} ${record.id}` } };
}

const MOST_ISSUES = 100;

interface Deleted {
  readonly resource: Resource;
  readonly record: StoredRecord;
  readonly depth: number;
}

async function bringBack(job: Job, deleted: Deleted, back: Deleted[]): Promise<void> {
  const { resource, record } = deleted;
  await translated({ resource }, () => restoreRecord(job.tx, resource, record.id));
  back.push(deleted);
  for (const referrer of referrersTo(job.model.definitions, { resource, ids: [record.id] })) {
    if (referrer.onDelete === 'cascade' && referrer.resource.softDelete) await bringBackReferrers(job, { deleted, referrer }, back);
  }
}

interface WentWith {
  readonly deleted: Deleted;
  readonly referrer: Referrer;
}

async function bringBackReferrers(job: Job, { deleted, referrer }: WentWith, back: Deleted[]): Promise<void> {
  const { record, depth } = deleted;
  for (let after = ''; ; ) {
    const ids = await findDeletedTogether(job.tx, referrer, { after, limit: PAGE, record });
    for (const id of ids) {
      // One of those before may have brought it back.
      const other = await loadDeletedRecord(job.tx, referrer.resource, id);
      if (other === undefined) continue;
      checkBounds(job, depth);
      await decideOrRefuse(job, { resource: referrer.resource, action: 'delete', record: other, recordId: id });
      await bringBack(job, { resource: referrer.resource, record: other, depth: depth + 1 }, back);
    }
    const last = ids.at(-1);
    if (last === undefined || ids.length < PAGE) return;
    after = last;
  }
}

function checkBounds(job: Job, depth: number): void {
  const { cascadeMax } = job.settings;
  if (depth >= MAX_DEPTH) throw new Problem('RECORD_REFERENCED', `more than ${MAX_DEPTH} references in a row lead to this record`);
  if (restored(job.tx, 1) > cascadeMax)
    throw new Problem('RECORD_REFERENCED', `more than ${cascadeMax} records would have to come back with this one`);
}

/** Nobody learns the name of a secret field by restoring what refers by it, nor any value. */
function toIssue({ name }: Resource, field: { readonly name: string; readonly writeOnly: boolean }): Issue {
  const path = field.writeOnly ? '' : field.name;
  return { path, code: 'reference', detail: `${path === '' ? name : `${name}.${path}`} refers to what is gone or deleted` };
}
