import { createHmac, type KeyObject } from 'node:crypto';
import { AUTH_RESOURCE, type AuditEntry, appendAuditEntries, appendEntry, createEntryId, type RepeatFacts } from '../audit/index.ts';
import { Problem } from '../errors.ts';
import { toCountedAddress } from '../ip-address.ts';
import type { RequestOrigin } from '../request/index.ts';
import type { Database, Transaction } from '../storage/index.ts';
import { type DiskState, toLowDiskProblem } from './low-disk.ts';
import { createRefusalWindows, type RefusalWindows, type Repeats } from './refusal-windows.ts';
import { deriveKey, type TokenKey } from './signing-key.ts';

/** The `action` of audit entries of kind `auth`: `revoke` is the end of other sessions, `password` a change of the own password, `token` the use of an access token. */
export type AuthAction = 'login' | 'refresh' | 'logout' | 'revoke' | 'password' | 'setup' | 'token';

/** The parts of a request that its audit entry of kind `auth` names. */
export type AuthOrigin = Pick<RequestOrigin, 'requestId' | 'ip'>;

/** An event of authentication. */
export interface AuthEvent {
  readonly action: AuthAction;
  readonly origin: AuthOrigin;
  /** Sentence for admins. It may be more specific than the detail of the problem, which the client receives. */
  readonly reason: string;
  /** The user who has authenticated, or whose account or token was named. */
  readonly userId?: string | undefined;
  /** The role of a user who has authenticated. */
  readonly role?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Stored as a keyed hash only. */
  readonly email?: string | undefined;
}

/** Writes the audit entries of kind `auth`. */
export interface AuthEntries {
  /** Appends the entry of an event that succeeded. */
  append(tx: Transaction, event: AuthEvent): Promise<void>;
  /** Appends the entry of a refusal. Returns the problem with the id of the entry; throw it after the commit, because a throw would undo the entry. */
  appendRefusal(tx: Transaction, event: AuthEvent, problem: Problem): Promise<Problem>;
  /**
   * Commits the entry of a refusal that any client can cause at no cost. Only the first refusal of a minute with the same action, problem,
   * user and network has an entry, so that a flood of requests does not fill the disk. Returns the problem with the id of that entry. While
   * little disk space is left, records nothing, and returns STORAGE_UNAVAILABLE.
   */
  recordRefusal(event: AuthEvent, problem: Problem): Promise<Problem>;
  /** Commits an entry with the number of repeated refusals of each window that has ended, or of all windows. */
  recordRepeats(which: 'ended' | 'all'): Promise<void>;
}

interface AuthEntryDeps {
  readonly database: Database;
  readonly key: TokenKey;
  readonly disk?: DiskState | undefined;
}

/** The members of a refusal that its entry contains. */
interface Refusal {
  readonly event: AuthEvent;
  readonly code: string;
}

/** Creates the functions that write audit entries of kind `auth`. */
export function createAuthEntries(
  { database, key, disk }: AuthEntryDeps,
  windows: RefusalWindows<Refusal> = createRefusalWindows(),
): AuthEntries {
  const append = createAppend(deriveKey(key, 'emails in audit entries'));
  return {
    append: async (tx, event) => void (await append(tx, event)),
    appendRefusal: async (tx, event, problem) => withEntry(problem, await append(tx, event, problem)),
    async recordRefusal(event, problem) {
      const lowDisk = toLowDiskProblem(disk);
      if (lowDisk !== undefined) return lowDisk;
      const { action, reason, userId = '', origin } = event;
      const kind = [toCountedAddress(origin.ip), action, problem.code, reason, userId].join(' ');
      const commit = () => database.transaction((tx) => append(tx, event, problem));
      return withEntry(problem, await windows.record(kind, { event, code: problem.code }, commit));
    },
    async recordRepeats(which) {
      const repeats = windows.takeRepeats(which);
      if (repeats.length === 0) return;
      try {
        await database.transaction(async (tx) => appendAuditEntries(tx, repeats.map(toRepeatsEntry)));
      } catch (error) {
        windows.restoreRepeats(repeats);
        throw error;
      }
    },
  };
}

/** Creates the function that appends the entry of an event, and returns the id of the entry. */
function createAppend(emailKey: KeyObject): (tx: Transaction, event: AuthEvent, problem?: Problem) => Promise<string> {
  return async (tx, event, problem) => {
    const entryId = createEntryId();
    const { origin, action, reason, userId, role = 'anon', sessionId, email } = event;
    appendEntry(tx, {
      id: entryId,
      at: new Date(tx.now).toISOString(),
      kind: 'auth',
      userId,
      role,
      resource: AUTH_RESOURCE,
      action,
      recordId: sessionId,
      allowed: problem === undefined,
      reason,
      // No policies are read.
      epoch: 0,
      requestId: origin.requestId,
      ip: origin.ip,
      outcome: problem?.code,
      facts: email === undefined ? undefined : { emailHash: hashEmail(emailKey, email) },
    });
    return entryId;
  };
}

/** Returns the entry with the number of repeated refusals. The entry of the first has the same action, reason and outcome. */
function toRepeatsEntry({ refusal, entryId, since, last, count }: Repeats<Refusal>): AuditEntry {
  const facts: RepeatFacts = { first: entryId, since: new Date(since).toISOString(), last: new Date(last).toISOString(), count };
  const { action = 'token', reason = 'refusals of several kinds and networks', userId, origin } = refusal?.event ?? {};
  return {
    id: createEntryId(),
    at: facts.last,
    kind: 'auth',
    userId,
    role: 'anon',
    resource: AUTH_RESOURCE,
    action,
    allowed: false,
    reason,
    epoch: 0,
    requestId: '',
    ip: origin === undefined ? '' : toCountedAddress(origin.ip),
    outcome: refusal?.code,
    facts,
  };
}

/** Hashes an email with a key, because clients send any text as email, such as their password, and a hash without a key can be guessed. */
function hashEmail(key: KeyObject, email: string): string {
  return createHmac('sha256', key).update(email.toLowerCase()).digest('base64url');
}

function withEntry({ code, detail, extras }: Problem, decisionId: string): Problem {
  return new Problem(code, detail, { ...extras, decisionId });
}
