/** For the tests of this folder: authentication with a database of its own, and functions to call it. */
import { createSecretKey } from 'node:crypto';
import { Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import type { RequestOrigin } from '../request/index.ts';
import type { Definitions, Resource } from '../resources/index.ts';
import { SYSTEM } from '../resources/system/index.ts';
import { sql } from '../sql.ts';
import { type Database, migrate, openSqlite } from '../storage/index.ts';
import { sealAll } from '../storage/policies/seal.fixture.ts';
import { type Authentication, createAuthentication } from './authentication.ts';
import type { AuthenticationOptions, FirstAdmin } from './authentication-deps.ts';

export const ADMIN = { email: 'Ada@Example.org', password: 'correct horse', name: 'Ada' };
export const KEY_BYTES: Uint8Array = Buffer.alloc(32, 7);

const OPTIONS: AuthenticationOptions = {
  jwtIssuer: 'us',
  jwtAudience: 'us',
  trustedIssuers: ['friend'],
  accessTokenSeconds: 3600,
  refreshTokenSeconds: 86_400,
  sessionIdleSeconds: 28_800,
  sessionMaxSeconds: 604_800,
  loginAttempts: 1000,
  loginAttemptsPerAddress: 1000,
  loginWindowSeconds: 900,
  loginAttemptsPerAccount: 1000,
  loginAccountWindowSeconds: 86_400,
  hashConcurrency: 2,
  passwordCosts: { memoryCost: 8, timeCost: 1, parallelism: 1 },
  setup: 'loopback',
};

/** The response to a request, or the problem with which the request failed. */
export interface Outcome {
  /** The status, or the code of the problem. */
  readonly outcome: number | string;
  readonly body: Record<string, unknown>;
  readonly problem: Problem | undefined;
}

export interface TestAuthentication {
  readonly identity: Authentication;
  readonly database: Database;
  /** The calls of `onFirstAdmin`. */
  readonly firstAdmins: FirstAdmin[];
  call(route: string, body?: Json, origin?: Partial<RequestOrigin>): Promise<Outcome>;
  /** Like `call`, for a request that was not sent from this machine. */
  callRemotely(route: string, body?: Json, origin?: Partial<RequestOrigin>): Promise<Outcome>;
  /** Returns the principal of a token, or the code of the problem. */
  identify(token: string | undefined): Promise<unknown>;
  /** Runs one statement, and writes the checksums of the changed rows. */
  run(text: string, ...parameters: unknown[]): Promise<unknown>;
  rows(text: string): Promise<readonly Record<string, unknown>[]>;
}

export interface TestOptions {
  readonly options?: Partial<AuthenticationOptions>;
  readonly definitions?: Definitions;
  onFirstAdmin?(): Promise<void>;
}

/** Starts authentication with empty tables. */
export async function startAuthentication(given: TestOptions = {}): Promise<TestAuthentication> {
  const database = openSqlite({ path: ':memory:' });
  const { definitions } = await migrate(database, given.definitions ?? SYSTEM);
  const firstAdmins: FirstAdmin[] = [];
  const key = createSecretKey(KEY_BYTES);
  const identity = createAuthentication({
    database,
    key: { algorithm: 'HS256', signing: key, verifying: key },
    options: { ...OPTIONS, ...given.options },
    userDefinition: () => definitions.get('User') as Resource,
    onFirstAdmin: async (_, admin) => {
      firstAdmins.push(admin);
      await given.onFirstAdmin?.();
    },
  });
  return {
    identity,
    database,
    firstAdmins,
    call: (route, body, origin) => call(identity, route, { body, origin, isLocal: true }),
    callRemotely: (route, body, origin) => call(identity, route, { body, origin, isLocal: false }),
    identify: (token) => identify(identity, database, token),
    run: (text, ...parameters) =>
      database.transaction(async (tx) => {
        const done = await tx.run({ sql: text, parameters });
        await sealAll(tx, definitions.get('User'));
        return done;
      }),
    rows: (text) => database.transaction((tx) => tx.all(sql.raw(text))),
  };
}

interface TestRequest {
  readonly body: Json | undefined;
  readonly origin: Partial<RequestOrigin> | undefined;
  readonly isLocal: boolean;
}

async function call(identity: Authentication, name: string, { body, origin, isLocal }: TestRequest): Promise<Outcome> {
  const full = { requestId: 'r1', method: '', path: '', ip: '192.0.2.1', ...origin };
  const given = (body ?? {}) as Record<string, string>;
  const operations: Record<string, () => Promise<unknown>> = {
    'POST /auth/setup': async () => ({ user: await identity.setUp({ body, origin: full, isLocal: () => isLocal }) }),
    'POST /auth/login': () => identity.logIn({ email: given['email'] ?? '', password: given['password'] ?? '' }, full),
    'POST /auth/refresh': () => identity.refresh(given['refreshToken'] ?? '', full),
    'POST /auth/logout': () => identity.ownSessions.endCurrent(full),
    'GET /auth/me': async () => ({ data: await identity.loadUser(full.token) }),
  };
  const operation = operations[name];
  if (operation === undefined) throw new Error(`no operation ${name}`);
  try {
    return {
      outcome: name === 'POST /auth/setup' ? 201 : 200,
      body: ((await operation()) ?? {}) as Record<string, unknown>,
      problem: undefined,
    };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { outcome: error.code, body: {}, problem: error };
  }
}

async function identify(identity: Authentication, database: Database, token: string | undefined): Promise<unknown> {
  try {
    const verified = await identity.readToken(token);
    return await database.transaction((tx) => identity.identify(tx, verified));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.code;
  }
}
