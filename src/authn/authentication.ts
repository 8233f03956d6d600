import { ANON, type Principal } from '../authz/context/index.ts';
import { Problem } from '../errors.ts';
import { type HttpRequest, type HttpResponse, type Route, refuseQuery } from '../request/index.ts';
import { showRecord } from '../resources/index.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuthenticationDeps, AuthenticationSetup } from './authentication-deps.ts';
import { loadCaller, loadCallerByEmail } from './caller.ts';
import { type PasswordClaim, type PasswordProof, provePassword } from './current-password.ts';
import { createLogin, refresh } from './login.ts';
import { createPasswords } from './passwords.ts';
import { revokeSession } from './sessions.ts';
import { openSetup, setUp } from './setup.ts';
import { createTokens, type VerifiedToken } from './tokens.ts';

/** Turns credentials into principals. In two steps, because a transaction may await nothing but itself. */
export interface Authentication {
  /** Before the transaction: shape, signature and claims. No token is undefined. @throws Problem IDENTITY_TOKEN, IDENTITY_TOKEN_EXPIRED */
  readToken(token: string | undefined): Promise<VerifiedToken | undefined>;
  /** Inside it: who that is now. Without a token, `anon`. @throws Problem IDENTITY_TOKEN */
  identify(tx: Transaction, token: VerifiedToken | undefined): Promise<Principal>;
  /** Who has this email now, for whoever needs no token: the data folder is theirs. @throws Problem USER_UNKNOWN */
  identifyByEmail(tx: Transaction, email: string): Promise<Principal>;
  /** Makes a set-up token, to be printed; undefined where an admin exists or set-up is off. */
  openSetup(): Promise<string | undefined>;
  /** @throws Problem STORAGE_BUSY where too many passwords are being hashed already. */
  hashPassword(plain: string): Promise<string>;
  /** Verifies a current password, counted like a login. @throws Problem STORAGE_BUSY where too many passwords are being hashed already. */
  provePassword(claim: PasswordClaim, ip: string): Promise<PasswordProof>;
  /** Everything under `/auth`. */
  readonly routes: readonly Route[];
}

/** Maximum bytes of a body with an email, a password and a name, or a token; callers without a token may send it. */
const BODY_BYTES = 16_384;

/** Puts identity together; it keeps nothing of callers but a cache of verified tokens. */
export function createAuthentication(options: AuthenticationSetup): Authentication {
  const passwords = createPasswords(options.settings.hashConcurrency);
  const tokens = createTokens(options.key, options.settings);
  const parts: AuthenticationDeps = { ...options, passwords, tokens };
  const address = (method: Route['method'], path: string, handle: Route['handle']): Route => ({
    method,
    path,
    bodyBytes: BODY_BYTES,
    async handle(call) {
      refuseQuery(call);
      return handle(call);
    },
  });

  return Object.freeze({
    readToken: async (token: string | undefined) => (token === undefined ? undefined : tokens.verify(token)),
    identify: async (tx: Transaction, token: VerifiedToken | undefined) =>
      token === undefined ? ANON : (await loadCaller(tx, token, options.userDefinition())).principal,
    identifyByEmail: async (tx: Transaction, email: string) => (await loadCallerByEmail(tx, email, options.userDefinition())).principal,
    openSetup: () => openSetup(parts),
    hashPassword: (plain: string) => passwords.hash(plain),
    provePassword: (claim: PasswordClaim, ip: string) => provePassword(parts, claim, ip),
    routes: Object.freeze([
      ...(options.settings.setup === 'off' ? [] : [address('POST', '/auth/setup', (call) => setUp(parts, call))]),
      address('POST', '/auth/login', createLogin(parts)),
      address('POST', '/auth/refresh', (call) => refresh(parts, call)),
      address('POST', '/auth/logout', (call) => logOut(parts, call)),
      address('GET', '/auth/me', (call) => showCaller(parts, call)),
    ]),
  });
}

/** Ends the session of the token; its refresh token ends with it. */
async function logOut(parts: AuthenticationDeps, call: HttpRequest): Promise<HttpResponse> {
  const token = await readRequired(parts, call);
  if (token.issuer !== undefined) throw new Problem('IDENTITY_TOKEN', 'another issuer gave this token; log out there');
  const { sessionId, userId } = token;
  await parts.database.transaction(async (tx) => {
    await loadCaller(tx, token, parts.userDefinition());
    await revokeSession(tx, { id: sessionId, userId });
  });
  return { status: 200, body: { success: true, message: 'logged out' } };
}

/** Who the token stands for, as stored now. */
async function showCaller(parts: AuthenticationDeps, call: HttpRequest): Promise<HttpResponse> {
  const token = await readRequired(parts, call);
  const data = await parts.database.transaction(async (tx) => {
    // Asked for in here: another process may just have renamed one of its fields.
    const user = parts.userDefinition();
    const { principal, record } = await loadCaller(tx, token, user);
    return record === undefined ? { ...principal.attributes, role: principal.role } : showRecord(user, record);
  });
  return { status: 200, headers: { 'cache-control': 'no-store' }, body: { success: true, data } };
}

async function readRequired({ tokens }: AuthenticationDeps, call: HttpRequest): Promise<VerifiedToken> {
  if (call.origin.token === undefined) throw new Problem('IDENTITY_REQUIRED', 'expected a bearer token, given none');
  return tokens.verify(call.origin.token);
}
