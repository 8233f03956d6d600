import type { RequestOrigin } from '../request/index.ts';
import type { Resource } from '../resources/index.ts';
import type { Database, Transaction } from '../storage/index.ts';
import type { AttemptSettings } from './login-attempts.ts';
import type { Passwords } from './passwords.ts';
import type { TokenKey } from './signing-key.ts';
import type { TokenSettings, Tokens } from './tokens.ts';

/** The settings that identity goes by. */
export interface AuthenticationOptions extends TokenSettings, AttemptSettings {
  readonly refreshTokenSeconds: number;
  /** Passwords hashed at once. */
  readonly hashConcurrency: number;
  /** `token`: set-up always needs the token. `loopback`: calls on this machine do not. `off`: nothing answers at its address. */
  readonly setup: 'token' | 'loopback' | 'off';
}

/** The first admin, as setup has just stored them. */
export interface FirstAdmin {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/** What identity needs of the rest. */
export interface AuthenticationSetup {
  readonly database: Database;
  readonly key: TokenKey;
  readonly settings: AuthenticationOptions;
  /** The definition of User in force. */
  userDefinition(): Resource;
  /** Called in the transaction of setup: the policy that lets admins in, and the entry that tells of it. */
  onFirstAdmin(tx: Transaction, admin: FirstAdmin, origin: RequestOrigin): Promise<void>;
}

/** What the addresses under `/auth` share. */
export interface AuthenticationDeps extends AuthenticationSetup {
  readonly passwords: Passwords;
  readonly tokens: Tokens;
}

/** A user as the answers of `/auth` show them. */
export interface ShownUser {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: string;
}
