import { createHmac, type KeyObject } from 'node:crypto';
import { appendEntry, createEntryId } from '../audit/index.ts';
import { Problem } from '../errors.ts';
import type { RequestOrigin } from '../request/index.ts';
import type { Database, Transaction } from '../storage/index.ts';
import { toCountedAddress } from './login-attempts.ts';
import { createRefusalWindows, type RefusalWindows } from './refusal-windows.ts';
import { deriveKey, type TokenKey } from './signing-key.ts';

/** The `resource` of audit entries of kind `auth`. */
const RESOURCE = 'Auth';

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
   * user and network has an entry, so that a flood of requests does not fill the disk. Returns the problem with the id of that entry.
   */
  recordRefusal(event: AuthEvent, problem: Problem): Promise<Problem>;
}

interface AuthEntryDeps {
  readonly database: Database;
  readonly key: TokenKey;
}

/** Creates the functions that write audit entries of kind `auth`. */
export function createAuthEntries({ database, key }: AuthEntryDeps, windows: RefusalWindows = createRefusalWindows()): AuthEntries {
  const emailKey = deriveKey(key, 'emails in audit entries');
  const append = async (tx: Transaction, event: AuthEvent, problem?: Problem): Promise<string> => {
    const entryId = createEntryId();
    const { origin, action, reason, userId, role = 'anon', sessionId, email } = event;
    await appendEntry(tx, {
      id: entryId,
      at: new Date(tx.now).toISOString(),
      kind: 'auth',
      userId,
      role,
      resource: RESOURCE,
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
  return {
    append: async (tx, event) => void (await append(tx, event)),
    appendRefusal: async (tx, event, problem) => withEntry(problem, await append(tx, event, problem)),
    async recordRefusal(event, problem) {
      const { action, reason, userId = '', origin } = event;
      const kind = [toCountedAddress(origin.ip), action, problem.code, reason, userId].join(' ');
      return withEntry(problem, await windows.record(kind, () => database.transaction((tx) => append(tx, event, problem))));
    },
  };
}

/** Hashes an email with a key, because clients send any text as email, such as their password, and a hash without a key can be guessed. */
function hashEmail(key: KeyObject, email: string): string {
  return createHmac('sha256', key).update(email.toLowerCase()).digest('base64url');
}

function withEntry({ code, detail, extras }: Problem, decisionId: string): Problem {
  return new Problem(code, detail, { ...extras, decisionId });
}
