import type { RequestOrigin } from '../request/index.ts';
import type { Resource } from '../resources/index.ts';
import type { Database, Transaction } from '../storage/index.ts';
import type { AuthEntries } from './auth-entries.ts';
import type { LoginLimits } from './login-attempts.ts';
import type { DiskState } from './low-disk.ts';
import type { HashCosts, Passwords } from './passwords.ts';
import type { TokenKey } from './signing-key.ts';
import type { TokenOptions, Tokens } from './tokens.ts';

/** The config options of authentication. */
export interface AuthenticationOptions extends TokenOptions, LoginLimits {
  /** Maximum lifetime of access tokens. A token expires with its session at the latest. */
  readonly accessTokenSeconds: number;
  readonly refreshTokenSeconds: number;
  /** Seconds after the login or the last refresh, after which a browser session ends. */
  readonly sessionIdleSeconds: number;
  /** Seconds after the login, after which a browser session ends. */
  readonly sessionMaxSeconds: number;
  /** Maximum number of passwords that are hashed at the same time. */
  readonly hashConcurrency: number;
  /** Default: those that OWASP recommends, at 19 MiB. */
  readonly passwordCosts?: HashCosts | undefined;
  /** `token`: setup always requires the setup token. `loopback`: requests from this machine do not. `off`: the endpoint does not exist. */
  readonly setup: 'token' | 'loopback' | 'off';
}

/** The first admin, as setup has just stored it. */
export interface FirstAdmin {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/** The dependencies of authentication. */
export interface AuthenticationDeps {
  readonly database: Database;
  readonly key: TokenKey;
  readonly options: AuthenticationOptions;
  readonly disk?: DiskState | undefined;
  /** Returns the current definition of User. */
  userDefinition(): Resource;
  /** Called in the transaction of setup: creates the policy that gives admins access, and appends the audit entry. */
  onFirstAdmin(tx: Transaction, admin: FirstAdmin, origin: RequestOrigin): Promise<void>;
}

/** The dependencies of login, refresh and setup. */
export interface AuthEndpointDeps extends AuthenticationDeps {
  readonly passwords: Passwords;
  readonly tokens: Tokens;
  readonly entries: AuthEntries;
  /** Deletes some expired rows of the tables of authentication, if the last deletion was an hour ago or has left some. */
  deleteExpired(tx: Transaction): Promise<void>;
}

/** A user, as the responses of setup, login and refresh contain it. */
export interface TokenUser {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: string;
}

/** An access token, and its user. */
export interface IssuedAccess {
  /** Access token. */
  readonly token: string;
  /** Seconds until the access token expires. */
  readonly expiresIn: number;
  readonly user: TokenUser;
}

/** The tokens of a session, and its user. The refresh token is not stored, so no other response can contain it. */
export interface IssuedTokens extends IssuedAccess {
  readonly refreshToken: string;
}
