import type { Principal } from '../authz/context/index.ts';
import type { Problem } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';
import { showRecord } from '../resources/index.ts';
import type { Transaction } from '../storage/index.ts';
import { type AuthEvent, type AuthOrigin, createAuthEntries } from './auth-entries.ts';
import type { AuthEndpointDeps, AuthenticationDeps, IssuedTokens, TokenUser } from './authentication-deps.ts';
import { type BrowserSessions, createBrowserSessions } from './browser-sessions.ts';
import { identify, identifyByEmail, identifyByToken, loadCaller } from './caller.ts';
import { createDeletion } from './delete-expired.ts';
import { createLogin, issueAccess, type LoginCredentials, type OpenByPassword, refresh, type SessionOrigin } from './login.ts';
import { noteTokenKey } from './note-token-key.ts';
import { createOwnSessions, type OwnSessions, verifyRequiredToken } from './own-sessions.ts';
import { createPasswords, type PasswordClaim, type PasswordProof, provePassword } from './passwords.ts';
import { openSession } from './sessions.ts';
import { loadSetupState, openSetup, type SetupRequest, type SetupState, setUp } from './setup.ts';
import { createTokens, type VerifiedToken } from './tokens.ts';

/** Authenticates requests, in two steps: a transaction may await only its own statements, so tokens are verified before it begins. */
export interface Authentication {
  /**
   * Verifies the form, signature and claims of a token, before the transaction. Returns undefined if there is no token.
   *
   * @throws Problem IDENTITY_TOKEN, IDENTITY_TOKEN_EXPIRED
   */
  readToken(token: string | undefined): Promise<VerifiedToken | undefined>;
  /** Loads the principal of a verified token, in the transaction; `anon` without a token. @throws Problem IDENTITY_TOKEN */
  identify(tx: Transaction, token: VerifiedToken | undefined): Promise<Principal>;
  /** Loads the user of an email without a token, for CLI commands: their caller can read the data folder. @throws Problem USER_UNKNOWN */
  identifyByEmail(tx: Transaction, email: string): Promise<Principal>;
  /** Creates a setup token to print; undefined if an admin exists or setup is off. */
  openSetup(): Promise<string | undefined>;
  /** Stores the fingerprint of the token key. Returns a notice if the previous start had another key. */
  noteTokenKey(): Promise<readonly string[]>;
  /** Hashes a password. @throws Problem STORAGE_BUSY if too many passwords wait to be hashed. */
  hashPassword(plain: string): Promise<string>;
  /** Verifies a user's current password. Limits the attempts like logins. @throws Problem STORAGE_BUSY if too many passwords wait to be hashed. */
  provePassword(claim: PasswordClaim, ip: string): Promise<PasswordProof>;
  /** Returns true members if the service needs a first admin, and if this request needs the setup token to create the admin. */
  loadSetupState(request: SetupRequest): Promise<SetupState>;
  /** Creates the first admin. @throws Problem IDENTITY_SETUP_DONE, IDENTITY_SETUP_TOKEN, IDENTITY_THROTTLED, VALUE_INVALID */
  setUp(request: SetupRequest): Promise<TokenUser>;
  /** Exchanges an email and a password for tokens. @throws Problem IDENTITY_CREDENTIALS, IDENTITY_THROTTLED */
  logIn(credentials: LoginCredentials, origin: SessionOrigin): Promise<IssuedTokens>;
  /** Exchanges a refresh token for new tokens. @throws Problem IDENTITY_TOKEN */
  refresh(refreshToken: string, origin: SessionOrigin): Promise<IssuedTokens>;
  readonly browserSessions: BrowserSessions;
  readonly ownSessions: OwnSessions;
  /** Returns the stored user of a token, without secret fields. @throws Problem IDENTITY_REQUIRED, IDENTITY_TOKEN, IDENTITY_TOKEN_EXPIRED */
  loadUser(token: string | undefined): Promise<JsonObject>;
  /** Appends the audit entry of an event of authentication. */
  appendEntry(tx: Transaction, event: AuthEvent, refusal?: Problem): Promise<void>;
  /** Commits the audit entry of a refused token. Returns the problem with the id of the entry. */
  recordRefusedToken(problem: Problem, origin: AuthOrigin): Promise<Problem>;
  /** Commits entries with the numbers of refusals that share an entry: of the windows that have ended, or of all. */
  recordRepeatedRefusals(which: 'ended' | 'all'): Promise<void>;
}

const NO_TOKEN: Promise<undefined> = Promise.resolve(undefined);

/** Creates authentication. Its only state is a cache of verified tokens. */
export function createAuthentication(given: AuthenticationDeps): Authentication {
  const passwords = createPasswords(given.options.hashConcurrency, given.options.passwordCosts);
  const tokens = createTokens(given.key, given.options);
  const entries = createAuthEntries(given);
  const deps: AuthEndpointDeps = { ...given, passwords, tokens, entries, deleteExpired: createDeletion(given.options) };
  const openByPassword = createLogin(deps);
  return Object.freeze({
    readToken: (token: string | undefined) => (token === undefined ? NO_TOKEN : tokens.verify(token)),
    identify: (tx: Transaction, token: VerifiedToken | undefined) => identify(tx, given.userDefinition(), identifyByToken(token)),
    identifyByEmail: (tx: Transaction, email: string) => identify(tx, given.userDefinition(), identifyByEmail(email)),
    noteTokenKey: () => given.database.transaction((tx) => noteTokenKey(tx, given.key)),
    openSetup: () => openSetup(deps),
    hashPassword: (plain: string) => passwords.hash(plain),
    provePassword: (claim: PasswordClaim, ip: string) => provePassword(deps, claim, ip),
    loadSetupState: (request: SetupRequest) => loadSetupState(deps, request),
    setUp: (request: SetupRequest) => setUp(deps, request),
    logIn: (credentials: LoginCredentials, origin: SessionOrigin) => logIn(deps, openByPassword, { credentials, origin }),
    refresh: (refreshToken: string, origin: SessionOrigin) => refresh(deps, refreshToken, origin),
    browserSessions: createBrowserSessions(deps, openByPassword),
    ownSessions: createOwnSessions(deps),
    loadUser: async (token: string | undefined) => loadUser(deps, await verifyRequiredToken(tokens, token)),
    appendEntry: async (tx: Transaction, event: AuthEvent, refusal?: Problem) =>
      refusal === undefined ? entries.append(tx, event) : void (await entries.appendRefusal(tx, event, refusal)),
    recordRefusedToken: (problem: Problem, origin: AuthOrigin) => {
      const { detail: reason, extras } = problem;
      return entries.recordRefusal({ action: 'token', origin, reason, userId: extras.userId }, problem);
    },
    recordRepeatedRefusals: entries.recordRepeats,
  });
}

interface Login {
  readonly credentials: LoginCredentials;
  readonly origin: SessionOrigin;
}

/** Opens a session with a refresh token. */
async function logIn(deps: AuthEndpointDeps, openByPassword: OpenByPassword, { credentials, origin }: Login): Promise<IssuedTokens> {
  const seconds = deps.options.refreshTokenSeconds;
  const issued = await openByPassword(credentials, origin, (tx, userId) => openSession(tx, { userId, client: origin, seconds }));
  return { ...(await issueAccess(deps, issued)), refreshToken: issued.session.refreshToken };
}

/** Returns the user of a token, as stored now. */
function loadUser({ database, userDefinition }: AuthEndpointDeps, token: VerifiedToken): Promise<JsonObject> {
  return database.transaction(async (tx) => {
    // Called in the transaction, because another process may have just renamed a field.
    const user = userDefinition();
    const { principal, record } = await loadCaller(tx, token, user);
    return record === undefined ? { ...principal.attributes, role: principal.role } : showRecord(user, record);
  });
}
