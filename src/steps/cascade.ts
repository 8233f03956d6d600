import { Problem } from '../errors.ts';
import type { Resource } from '../resource/index.ts';
import { deleteRecord, findReferrers, loadRecord, updateRecord } from '../storage/index.ts';
import { decideOrRefuse } from './decide.ts';
import type { Job } from './job.ts';

interface Target {
  readonly resource: Resource;
  readonly id: string;
  /** How many references lie between the record that the caller deletes and this one. */
  readonly depth?: number;
}

const MAX_DEPTH = 8;

/**
 * Makes way for a record to be deleted: `restrict` refuses, `setNull` empties the reference, `cascade` deletes the
 * referring record, and only where the caller may delete that one too: each leaves its own entry.
 */
export async function checkDeletable(job: Job, target: Target): Promise<void> {
  const depth = target.depth ?? 0;
  for (const referrer of await findReferrers(job.tx, job.model.definitions, target)) {
    const name = `${referrer.resource.name}.${referrer.field.name}`;
    if (referrer.onDelete === 'restrict') throw new Problem('RECORD_REFERENCED', `${name} refers to this ${target.resource.name}`);
    if (referrer.more || depth >= MAX_DEPTH)
      throw new Problem('RECORD_REFERENCED', `too many records refer to this ${target.resource.name} through ${name} to delete at once`);
    for (const id of referrer.ids) {
      const record = await loadRecord(job.tx, referrer.resource, id);
      if (record === undefined) continue;
      if (referrer.onDelete === 'setNull') {
        await updateRecord(job.tx, referrer.resource, {
          id,
          version: record.version,
          values: {},
          cleared: [referrer.field.name],
          now: job.tx.now,
        });
        continue;
      }
      decideOrRefuse(job, { resource: referrer.resource, action: 'delete', record, recordId: id });
      await checkDeletable(job, { resource: referrer.resource, id, depth: depth + 1 });
      await deleteRecord(job.tx, referrer.resource, id);
    }
  }
}
