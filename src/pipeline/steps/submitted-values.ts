import { findGuessablePassword } from '../../authn/index.ts';
import { MAX_ISSUES, Problem } from '../../errors.ts';
import { createId } from '../../ids.ts';
import type { Json } from '../../operators/index.ts';
import { type StoredRecord, validateValues } from '../../resources/index.ts';
import type { Found, Proposal, RequestContext } from '../request-context.ts';
import { issuesOfPassword } from './password-changes.ts';

/** The resource, the caller and the time (milliseconds since 1970) of a proposed record. */
export interface ProposalOptions extends Pick<RequestContext, 'resource' | 'principal'> {
  readonly now: number;
  /** True if a change may increment numbers. True by default. */
  readonly increments?: boolean | undefined;
  /** True if mistakes suggest similar names. True by default. */
  readonly suggests?: boolean | undefined;
}

/** Returns the record that a create would store. Mistakes are reported after the decision, so callers who are denied do not learn them. */
export function valuesForCreate(context: RequestContext): readonly Proposal[] {
  return [proposeRecord(optionsOf(context), context.request.data)];
}

/** Returns the records that an import would store. Computes each record when it is first used, so an import that is denied early costs little. */
export function valuesForImport(context: RequestContext): readonly Proposal[] {
  const { data } = context.request;
  if (!Array.isArray(data) || data.length === 0)
    throw new Problem('REQUEST_MALFORMED', 'expected data to be an array of at least one record');
  let mistakes = 0;
  return data.map(
    (row: Json) =>
      new LazyProposal(() => {
        // The response lists at most MAX_ISSUES mistakes, so names that are similar to those of further mistakes are not searched.
        const proposal = proposeRecord({ ...optionsOf(context), suggests: mistakes < MAX_ISSUES }, row);
        const issues = proposal.issues.slice(0, MAX_ISSUES - mistakes);
        mistakes += issues.length;
        return { ...proposal, issues };
      }),
  );
}

/** A class, because each record of a request has one. */
class LazyProposal implements Proposal {
  readonly #compute: () => Proposal;
  #computed: Proposal | undefined;

  constructor(compute: () => Proposal) {
    this.#compute = compute;
  }

  get record(): Proposal['record'] {
    return this.#proposal.record;
  }

  get values(): Proposal['values'] {
    return this.#proposal.values;
  }

  get cleared(): Proposal['cleared'] {
    return this.#proposal.cleared;
  }

  get issues(): Proposal['issues'] {
    return this.#proposal.issues;
  }

  get #proposal(): Proposal {
    this.#computed ??= this.#compute();
    return this.#computed;
  }
}

/** Returns the stored record as the update would change it. */
export function valuesForUpdate(context: RequestContext, found: Found): readonly Proposal[] {
  return proposeUpdate(context, found, optionsOf(context));
}

/** Returns the record as changed by a row of an import. Rows may be sent again, so they must not contain increments. */
export function valuesForRow(context: RequestContext, found: Found): readonly Proposal[] {
  return proposeUpdate(context, found, { ...optionsOf(context), increments: false });
}

function proposeUpdate(context: RequestContext, [before]: Found, options: ProposalOptions): readonly Proposal[] {
  if (before === undefined) return [];
  const proposal = proposeChange(options, before, context.request.data);
  const changed = [...Object.keys(proposal.values), ...proposal.cleared];
  return [{ ...proposal, issues: [...proposal.issues, ...issuesOfPassword(context, before, changed)] }];
}

/** Returns the record that a create with this data would store. Invalid values are left out of the record and listed as issues. */
export function proposeRecord({ resource, principal, now, suggests }: ProposalOptions, data: Json | undefined): Proposal {
  const { values, cleared, issues } = validateValues(resource, data, { mode: 'create', isAdmin: isAdmin(principal), suggests });
  const guessable = resource.name === 'User' ? findGuessablePassword(values) : [];
  const time = new Date(now).toISOString();
  const owner = principal.id === undefined ? {} : { createdBy: principal.id };
  const record: StoredRecord = { ...values, id: createId(), version: 1, createdAt: time, updatedAt: time, ...owner };
  return { record, values, cleared, issues: [...issues, ...guessable] };
}

/** Returns a record as an update with this data would store it. */
export function proposeChange(
  { resource, principal, now, increments = true }: ProposalOptions,
  before: StoredRecord,
  data: Json | undefined,
): Proposal {
  const stored = increments ? before : undefined;
  const { values, cleared, issues } = validateValues(resource, data, { mode: 'update', isAdmin: isAdmin(principal), stored });
  const unchanged = Object.entries(before).filter(([name]) => !cleared.includes(name));
  const changed = { id: before.id, version: before.version + 1, updatedAt: new Date(now).toISOString() };
  const record = { ...Object.fromEntries(unchanged), ...values, ...changed };
  const guessable = resource.name === 'User' ? findGuessablePassword(record) : [];
  return { record, values, cleared, issues: [...issues, ...guessable] };
}

function optionsOf({ resource, principal, tx }: RequestContext): ProposalOptions {
  return { resource, principal, now: tx.now };
}

function isAdmin({ role }: RequestContext['principal']): boolean {
  return role === 'admin';
}
