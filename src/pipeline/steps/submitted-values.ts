import { findGuessablePassword } from '../../authn/index.ts';
import { type Issue, Problem } from '../../errors.ts';
import { createId } from '../../ids.ts';
import type { Json } from '../../operators/index.ts';
import { type StoredRecord, validateValues } from '../../resources/index.ts';
import type { Found, Proposal, RequestContext } from '../request-context.ts';
import { issuesOfPassword } from './own-password.ts';

/** Of which resource a record is proposed, by whom, and when (milliseconds since 1970). */
export interface Proposing extends Pick<RequestContext, 'resource' | 'principal'> {
  readonly now: number;
  /** True if a change may increment numbers, which is the default. */
  readonly increments?: boolean | undefined;
}

/** For actions that bring no values. */
export function noValues(): readonly Proposal[] {
  return [];
}

/** The record that a create would make. Mistakes are kept for the check after the decision: who is denied does not learn them. */
export function valuesForCreate(context: RequestContext): readonly Proposal[] {
  return [proposeRecord(proposing(context), context.request.data)];
}

/** The records that an import would make, each read when it is first asked for: denying the first must not cost reading all. */
export function valuesForImport(context: RequestContext): readonly Proposal[] {
  const { data } = context.request;
  if (!Array.isArray(data) || data.length === 0)
    throw new Problem('REQUEST_MALFORMED', 'expected data to be an array of at least one record');
  return data.map((row: Json, index) =>
    whenAsked(() => {
      const proposal = proposeRecord(proposing(context), row);
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
export function valuesForUpdate(context: RequestContext, found: Found): readonly Proposal[] {
  return proposeUpdate(context, found, proposing(context));
}

/** Returns the record as changed by a row of an import. Rows may be sent again, so they must not contain increments. */
export function valuesForRow(context: RequestContext, found: Found): readonly Proposal[] {
  return proposeUpdate(context, found, { ...proposing(context), increments: false });
}

function proposeUpdate(context: RequestContext, [before]: Found, by: Proposing): readonly Proposal[] {
  if (before === undefined) return [];
  const proposal = proposeChange(by, before, context.request.data);
  const changed = [...Object.keys(proposal.values), ...proposal.cleared];
  return [{ ...proposal, issues: [...proposal.issues, ...issuesOfPassword(context, before, changed)] }];
}

/** The record that a create by this data would make. What is wrong with the data is left out of it, and listed. */
export function proposeRecord({ resource, principal, now }: Proposing, data: Json | undefined): Proposal {
  const { values, cleared, issues } = validateValues(resource, data, { mode: 'create', isAdmin: isAdmin(principal) });
  const guessable = resource.name === 'User' ? findGuessablePassword(values) : [];
  const time = new Date(now).toISOString();
  const owner = principal.id === undefined ? {} : { createdBy: principal.id };
  const record: StoredRecord = { ...values, id: createId(), version: 1, createdAt: time, updatedAt: time, ...owner };
  return { record, values, cleared, issues: [...issues, ...guessable] };
}

/** A record as an update by this data would leave it. */
export function proposeChange(
  { resource, principal, now, increments = true }: Proposing,
  before: StoredRecord,
  data: Json | undefined,
): Proposal {
  const stored = increments ? before : undefined;
  const { values, cleared, issues } = validateValues(resource, data, { mode: 'update', isAdmin: isAdmin(principal), stored });
  const kept = Object.entries(before).filter(([name]) => !cleared.includes(name));
  const changed = { id: before.id, version: before.version + 1, updatedAt: new Date(now).toISOString() };
  const record = { ...Object.fromEntries(kept), ...values, ...changed };
  const guessable = resource.name === 'User' ? findGuessablePassword(record) : [];
  return { record, values, cleared, issues: [...issues, ...guessable] };
}

function proposing({ resource, principal, tx }: RequestContext): Proposing {
  return { resource, principal, now: tx.now };
}

function isAdmin({ role }: RequestContext['principal']): boolean {
  return role === 'admin';
}

function at(prefix: string, issue: Issue): Issue {
  return { ...issue, path: issue.path === '' ? prefix : `${prefix}.${issue.path}` };
}
