import { v7 as createId } from 'uuid';
import { type Issue, Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import { checkValues, type StoredRecord } from '../resource/index.ts';
import type { Found, Job, Proposal } from './job.ts';

/** For actions that bring no values. */
export function readNothing(): readonly Proposal[] {
  return [];
}

/** The record that a create would make. Mistakes are kept for the check after the decision: who is denied does not learn them. */
export function readForCreate(job: Job): readonly Proposal[] {
  return [propose(job, job.request.data)];
}

/** The records that an import would make, each read when it is first asked for: denying the first must not cost reading all. */
export function readEach(job: Job): readonly Proposal[] {
  const { data } = job.request;
  if (!Array.isArray(data) || data.length === 0)
    throw new Problem('REQUEST_MALFORMED', 'expected data to be an array of at least one record');
  return data.map((row: Json, index) =>
    whenAsked(() => {
      const proposal = propose(job, row);
      return { ...proposal, issues: proposal.issues.map((issue) => at(`data.${index}`, issue)) };
    }),
  );
}

function whenAsked(read: () => Proposal): Proposal {
  let done: Proposal | undefined;
  const proposal = (): Proposal => {
    done ??= read();
    return done;
  };
  return {
    get record() {
      return proposal().record;
    },
    get values() {
      return proposal().values;
    },
    get cleared() {
      return proposal().cleared;
    },
    get issues() {
      return proposal().issues;
    },
  };
}

/** The record found, as the update would leave it. */
export function readForUpdate(job: Job, found: Found): readonly Proposal[] {
  const before = found[0];
  if (before === undefined) return [];
  const { values, cleared, issues } = checkValues(job.resource, job.request.data, { mode: 'update', isAdmin: isAdmin(job) });
  const kept = Object.entries(before).filter(([name]) => !cleared.includes(name));
  const record: StoredRecord = {
    ...Object.fromEntries(kept),
    ...values,
    id: before.id,
    version: before.version + 1,
    updatedAt: isoNow(job),
  };
  return [{ record, values, cleared, issues: [...issues, ...issuesOfPassword(job, before, [...Object.keys(values), ...cleared])] }];
}

/** Who sets another's password can log in as them, whatever their role: for that, a policy on `update` is not enough. */
function issuesOfPassword(job: Job, user: StoredRecord, changed: readonly string[]): readonly Issue[] {
  const isOthers = job.resource.name === 'User' && user.id !== job.principal.id && !isAdmin(job);
  if (!isOthers || !changed.includes('password')) return [];
  return [{ path: 'password', code: 'guarded', detail: 'expected no value: only the user and an admin may set it' }];
}

function propose(job: Job, data: Json | undefined): Proposal {
  const { values, cleared, issues } = checkValues(job.resource, data, { mode: 'create', isAdmin: isAdmin(job) });
  const now = isoNow(job);
  const owner = job.principal.id === undefined ? {} : { createdBy: job.principal.id };
  const record: StoredRecord = { ...values, id: createId(), version: 1, createdAt: now, updatedAt: now, ...owner };
  return { record, values, cleared, issues };
}

function isAdmin(job: Job): boolean {
  return job.principal.role === 'admin';
}

function isoNow(job: Job): string {
  return new Date(job.tx.now).toISOString();
}

function at(prefix: string, issue: Issue): Issue {
  return { ...issue, path: issue.path === '' ? prefix : `${prefix}.${issue.path}` };
}
