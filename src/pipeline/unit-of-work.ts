import type { AuditEntry } from '../audit/index.ts';
import type { Prefetch } from '../authz/index.ts';
import { Problem } from '../errors.ts';
import type { RequestOrigin } from '../request/index.ts';
import type { Transaction } from '../storage/index.ts';
import type { Caller, Found, PipelineDeps, UnitOfWork } from './request-context.ts';
import { createPasswordHashes, HashNeeded, type MadePasswords } from './steps/password-changes.ts';

/** Verifies the token of a request. @throws Problem IDENTITY_TOKEN, IDENTITY_TOKEN_EXPIRED */
export async function authenticate({ identity }: PipelineDeps, origin: RequestOrigin): Promise<Caller> {
  const token = await identity.readToken(origin.token);
  return { origin, identify: (tx) => identity.identify(tx, token) };
}

/** The caller of a unit of work, and data that can be loaded before the caller is known. */
export interface UnitOfWorkOptions {
  readonly caller: Caller;
  readonly prefetch?: Prefetch<Found> | undefined;
}

type Loaded = Pick<UnitOfWork, 'principal' | 'prefetched'>;

/**
 * Runs `work` in one transaction at the current revision, as the caller. Runs it again with password hashes if it turns out to
 * need them. Returns after the commit.
 */
export async function withUnitOfWork<T>(
  deps: PipelineDeps,
  { caller, prefetch }: UnitOfWorkOptions,
  work: (unit: UnitOfWork) => Promise<T>,
): Promise<T> {
  const made = { hashes: new Map<string, string>(), proved: undefined as MadePasswords['proved'] };
  const load: Prefetch<Loaded> = async (tx, definitions) => {
    // A server gets both queries in one message.
    const principal = caller.identify(tx);
    const prefetched = prefetch?.(tx, definitions);
    // Both must settle before the connection is used for something else. The step that uses the prefetched record reports its failure.
    await Promise.allSettled([principal, prefetched]);
    return { principal: await principal, prefetched };
  };
  const { options, watch } = deps;
  for (;;) {
    let appended: AuditEntry[] = [];
    try {
      const result = await deps.database.transactionAtRevision(load, ({ tx, snapshot, data }) => {
        // A transaction that runs again starts with no entries.
        appended = [];
        return work({ tx, caller, snapshot, ...data, hashes: createPasswordHashes(made), options, appended, watch });
      });
      watch?.recorded(appended);
      return result;
    } catch (error) {
      if (!(error instanceof HashNeeded)) throw error;
      await computePasswords(deps, caller, { needed: error, made });
    }
  }
}

/** Computes the missing hashes and the proof of a password, outside any transaction. */
async function computePasswords(
  { identity }: PipelineDeps,
  { origin }: Caller,
  {
    needed: { plain, claim },
    made,
  }: { readonly needed: HashNeeded; readonly made: { hashes: Map<string, string>; proved: MadePasswords['proved'] } },
): Promise<void> {
  if (claim !== undefined) {
    made.proved = { claim, proof: await identity.provePassword(claim, origin.ip) };
    // The next run refuses the request, so it needs no hashes.
    if ('refused' in made.proved.proof) return;
  }
  for (const password of plain) made.hashes.set(password, await identity.hashPassword(password));
}

/** Identifies the caller again in the same transaction, because an earlier request of it may have changed the user. */
export async function identifyAgain(unit: UnitOfWork): Promise<UnitOfWork> {
  return { ...unit, principal: await unit.caller.identify(unit.tx), prefetched: undefined };
}

/** Runs a read with its audit entries; without them if they cannot be written and the audit mode is `relaxed`. */
export async function withAuditMode<T>({ auditMode }: PipelineDeps, run: (isAudited: boolean) => Promise<T>): Promise<T> {
  try {
    return await run(true);
  } catch (error) {
    // Accepted risk of `relaxed`: the read is answered and has no audit entry.
    const isUnwritable = error instanceof Problem && error.code === 'STORAGE_UNAVAILABLE';
    if (!isUnwritable || auditMode === 'strict') throw error;
    return run(false);
  }
}

/** Creates a counter that adds up per transaction and returns the total. Limits apply to a batch as a whole, because other requests wait for it. */
export function createUsageCounter(): (tx: Transaction, count: number) => number {
  const used = new WeakMap<Transaction, number>();
  return (tx, count) => {
    const total = (used.get(tx) ?? 0) + count;
    used.set(tx, total);
    return total;
  };
}
