import { ANON, type Principal } from '../authz/context/index.ts';
import { Problem } from '../errors.ts';
import { type HttpRequest, type HttpResponse, type Route, validateNoQuery } from '../request/index.ts';
import { showRecord } from '../resources/index.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuthEndpointDeps, AuthenticationDeps } from './authentication-deps.ts';
import { loadCaller, loadCallerByEmail } from './caller.ts';
import { createLogin, refresh } from './login.ts';
import { createPasswords, type PasswordClaim, type PasswordProof, provePassword } from './passwords.ts';
import { revokeSession } from './sessions.ts';
import { openSetup, setUp } from './setup.ts';
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
  /** Hashes a password. @throws Problem STORAGE_BUSY if too many passwords wait to be hashed. */
  hashPassword(plain: string): Promise<string>;
  /** Verifies a user's current password and counts the attempt like a login. @throws Problem STORAGE_BUSY if too many passwords wait to be hashed. */
  provePassword(claim: PasswordClaim, ip: string): Promise<PasswordProof>;
  /** The endpoints under `/auth`. */
  readonly routes: readonly Route[];
}

/** Maximum bytes of a request body. The bodies are small, and callers without a token may send them. */
const BODY_BYTES = 16_384;

/** Creates authentication. Its only state is a cache of verified tokens. */
export function createAuthentication(given: AuthenticationDeps): Authentication {
  const passwords = createPasswords(given.options.hashConcurrency);
  const tokens = createTokens(given.key, given.options);
  const deps: AuthEndpointDeps = { ...given, passwords, tokens };
  const endpoint = (method: Route['method'], path: string, handle: Route['handle']): Route => ({
    method,
    path,
    bodyBytes: BODY_BYTES,
    async handle(request) {
      validateNoQuery(request);
      return handle(request);
    },
  });

  return Object.freeze({
    readToken: async (token: string | undefined) => (token === undefined ? undefined : tokens.verify(token)),
    identify: async (tx: Transaction, token: VerifiedToken | undefined) =>
      token === undefined ? ANON : (await loadCaller(tx, token, given.userDefinition())).principal,
    identifyByEmail: async (tx: Transaction, email: string) => (await loadCallerByEmail(tx, email, given.userDefinition())).principal,
    openSetup: () => openSetup(deps),
    hashPassword: (plain: string) => passwords.hash(plain),
    provePassword: (claim: PasswordClaim, ip: string) => provePassword(deps, claim, ip),
    routes: Object.freeze([
      ...(given.options.setup === 'off' ? [] : [endpoint('POST', '/auth/setup', (request) => setUp(deps, request))]),
      endpoint('POST', '/auth/login', createLogin(deps)),
      endpoint('POST', '/auth/refresh', (request) => refresh(deps, request)),
      endpoint('POST', '/auth/logout', (request) => logOut(deps, request)),
      endpoint('GET', '/auth/me', (request) => showCaller(deps, request)),
    ]),
  });
}

/** `POST /auth/logout`: ends the session of the token, including its refresh token. */
async function logOut(deps: AuthEndpointDeps, request: HttpRequest): Promise<HttpResponse> {
  const token = await verifyRequiredToken(deps, request);
  if (token.issuer !== undefined) throw new Problem('IDENTITY_TOKEN', 'another issuer gave this token; log out there');
  const { sessionId, userId } = token;
  await deps.database.transaction(async (tx) => {
    await loadCaller(tx, token, deps.userDefinition());
    await revokeSession(tx, { id: sessionId, userId });
  });
  return { status: 200, body: { success: true, message: 'logged out' } };
}

/** `GET /auth/me`: returns the user of the token, as stored now. */
async function showCaller(deps: AuthEndpointDeps, request: HttpRequest): Promise<HttpResponse> {
  const token = await verifyRequiredToken(deps, request);
  const data = await deps.database.transaction(async (tx) => {
    // Called in the transaction, because another process may have just renamed a field.
    const user = deps.userDefinition();
    const { principal, record } = await loadCaller(tx, token, user);
    return record === undefined ? { ...principal.attributes, role: principal.role } : showRecord(user, record);
  });
  return { status: 200, headers: { 'cache-control': 'no-store' }, body: { success: true, data } };
}

async function verifyRequiredToken({ tokens }: AuthEndpointDeps, request: HttpRequest): Promise<VerifiedToken> {
  if (request.origin.token === undefined) throw new Problem('IDENTITY_REQUIRED', 'expected a bearer token, given none');
  return tokens.verify(request.origin.token);
}
