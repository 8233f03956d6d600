import type { AuditEntry } from '../audit/index.ts';
import { identify, identifyByToken, toForeignId, toLowDiskProblem, type VerifiedToken } from '../authn/index.ts';
import type { AtRevision, Prefetch } from '../authz/index.ts';
import { Problem } from '../errors.ts';
import { networkOf } from '../ip-address.ts';
import type { ApiRequest, RequestOrigin } from '../request/index.ts';
import { toAnonymousCaller } from '../storage/index.ts';
import { createCallerBudget } from './answer-budget.ts';
import { createFindEntryId, type FindEntryId } from './entry-ids.ts';
import { NO_PREFETCHING, prefetch } from './prefetch.ts';
import type { Caller, Denials, PipelineDeps, UnitOfWork } from './request-context.ts';
import { type ComputedPasswords, createPasswordHashes, HashNeeded } from './steps/password-changes.ts';

/** Verifies the token of a request. @throws Problem IDENTITY_TOKEN, IDENTITY_TOKEN_EXPIRED, STORAGE_UNAVAILABLE */
export async function authenticate({ identity, disk }: PipelineDeps, origin: RequestOrigin): Promise<Caller> {
  const lowDisk = origin.token === undefined ? toLowDiskProblem(disk) : undefined;
  if (lowDisk !== undefined) throw lowDisk;
  const token = await identity.readToken(origin.token);
  const sessionId = token?.issuer === undefined ? token?.sessionId : undefined;
  const verifyToken = async (): Promise<void> => void (await identity.readToken(origin.token));
  return { origin, key: toCallerKey(token, origin.ip), sessionId, identification: identifyByToken(token), verifyToken };
}

/** Returns the text that identifies a caller in the queue of long attempts: the user or the subject of the token, or the network. */
export function toCallerKey(token: VerifiedToken | undefined, ip: string): string {
  if (token === undefined) return toAnonymousCaller(networkOf(ip));
  return token.issuer === undefined ? token.userId : toForeignId(token.issuer, token.subject);
}

/** The caller of a unit of work, and data that can be loaded before the caller is known. */
export interface UnitOfWorkOptions<T> {
  readonly caller: Caller;
  /** The requests of the unit of work, whose rows may be loaded with the caller. Absent if they are not known. */
  readonly requests?: readonly ApiRequest[] | undefined;
  /** True if the unit of work is known to take long: begins with the long attempt. */
  readonly beginsLong?: boolean | undefined;
  /** Number of records that the unit of work is known to write. */
  readonly writes?: number | undefined;
  /** Returns the result with the ids of the audit entries that record its decisions. Called after the commit, if there are repeated denials. */
  readonly withEntryIds?: ((result: T, findEntryId: FindEntryId) => T) | undefined;
}

/**
 * Runs `work` in one transaction at the current revision, as the caller. If `work` needs password hashes or a proof, rolls back, computes
 * them outside the transaction, and runs `work` again. Returns after the commit.
 */
export async function withUnitOfWork<T>(
  deps: PipelineDeps,
  { caller, requests = [], beginsLong, writes, withEntryIds }: UnitOfWorkOptions<T>,
  work: (unit: UnitOfWork) => Promise<T>,
): Promise<T> {
  const computed: MutablePasswords = { hashes: new Map(), verified: undefined };
  const { identification } = caller;
  let prefetching = NO_PREFETCHING;
  const queries: Prefetch = (tx, definitions) => {
    const user = definitions.get('User');
    prefetching = prefetch(tx, definitions, requests);
    return [user && identification.query(tx, user), ...prefetching.queries];
  };
  const { options, observer, policyStore } = deps;
  for (;;) {
    let appended: AuditEntry[] = [];
    let denials: Denials | undefined;
    try {
      const run = async ({ tx, snapshot: begun, rows: [user, ...rows] }: AtRevision): Promise<T> => {
        const principal = identification.toPrincipal(tx, begun.user, user);
        const snapshot = await policyStore.withRoles(tx, begun, principal.role);
        // A transaction that runs again starts with no entries.
        appended = [];
        denials = createDenials(deps, caller);
        const budget = createCallerBudget(tx, options, principal.id);
        const hashes = createPasswordHashes(computed);
        const prefetched = prefetching.read(rows);
        return work({ tx, caller, principal, policyStore, snapshot, prefetched, hashes, budget, options, appended, denials, observer });
      };
      const result = await deps.database.transactionAtRevision(queries, run, { caller: caller.key, beginsLong, writes });
      observer?.recorded(appended);
      return settleDenials(denials, { result, withEntryIds });
    } catch (error) {
      if (!(error instanceof HashNeeded)) throw error;
      await computePasswords(deps, caller, { needed: error, computed });
    }
  }
}

/** Returns an empty list of denials if those of the caller are counted: without a token, any client can cause any number of them. */
function createDenials({ denialWindows: windows }: PipelineDeps, { origin }: Caller): Denials | undefined {
  return windows === undefined || origin.token !== undefined ? undefined : { windows, appended: [] };
}

interface SettledWork<T> extends Pick<UnitOfWorkOptions<T>, 'withEntryIds'> {
  readonly result: T;
}

/** Opens the windows that began with committed denials. Returns the result with the ids of the entries that record its decisions. */
function settleDenials<T>(denials: Denials | undefined, { result, withEntryIds }: SettledWork<T>): T {
  if (denials === undefined || denials.appended.length === 0) return result;
  denials.windows.open(denials.appended);
  const findEntryId = createFindEntryId(denials);
  return findEntryId === undefined || withEntryIds === undefined ? result : withEntryIds(result, findEntryId);
}

interface MutablePasswords {
  readonly hashes: Map<string, readonly string[]>;
  verified: ComputedPasswords['verified'];
}

/** The hashes and the proof that a run of the unit of work lacked, and the hashes and the proof computed so far. */
interface PasswordComputation {
  readonly needed: HashNeeded;
  readonly computed: MutablePasswords;
}

/** Computes the missing hashes and the proof of a password, outside any transaction. */
async function computePasswords(
  { identity }: PipelineDeps,
  { origin }: Caller,
  { needed: { plain, claim }, computed }: PasswordComputation,
): Promise<void> {
  if (claim !== undefined) {
    computed.verified = { claim, proof: await identity.provePassword(claim, origin.ip) };
    // The next run refuses the request, so it needs no hashes.
    if ('refused' in computed.verified.proof) return;
  }
  for (const password of plain) {
    computed.hashes.set(password, [...(computed.hashes.get(password) ?? []), await identity.hashPassword(password)]);
  }
}

/** Returns the unit of work, with the caller identified again if an earlier request of the transaction may have changed the user. */
export async function identifyAgain(unit: UnitOfWork): Promise<UnitOfWork> {
  const { tx, caller, policyStore } = unit;
  if (!tx.hasChangedUsers) return unit;
  const principal = await identify(tx, unit.snapshot.user, caller.identification);
  return { ...unit, principal, snapshot: await policyStore.withRoles(tx, unit.snapshot, principal.role) };
}

/** Runs a read with audit entries. If the entries cannot be written and the audit mode is `relaxed`, runs the read again without entries. */
export function withAuditMode<T>({ auditMode }: Pick<PipelineDeps, 'auditMode'>, run: (isAudited: boolean) => Promise<T>): Promise<T> {
  if (auditMode === 'strict') return run(true);
  return run(true).catch((error: unknown) => {
    // Accepted risk of `relaxed`: the read succeeds without an audit entry.
    if (error instanceof Problem && error.code === 'STORAGE_UNAVAILABLE') return run(false);
    throw error;
  });
}
