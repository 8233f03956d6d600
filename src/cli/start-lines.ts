import { type Settings, toSetup } from '../settings.ts';

/** A service that takes requests, as its start lines describe it. */
export interface Started {
  readonly url: string;
  readonly isFollowing: boolean;
  readonly notices: readonly string[];
  /** Undefined where an admin exists, or where set-up is off. */
  readonly setupToken: string | undefined;
}

/** Returns the lines that a start prints. They are the only place where a set-up token is shown. */
export function describeStart(settings: Settings, { url, isFollowing, notices, setupToken }: Started): readonly string[] {
  const lines = [
    `bailiwick listens on ${url}`,
    `  project   ${settings.project}${isFollowing ? ' (following its files)' : ''}`,
    `  database  ${showDatabase(settings.database)}`,
    ...(settings.workers > 1 ? [`  workers   ${settings.workers}`] : []),
    ...(settings.docs === 'off' ? [] : [`  API page  ${url}/docs`]),
    ...notices,
  ];
  if (setupToken === undefined) return lines;
  const body = `{"token":"${setupToken}","name":"Ada","email":"ada@example.com","password":"choose-a-password"}`;
  const call = `  curl -X POST ${url}/auth/setup -H 'content-type: application/json' -d '${body}'`;
  return [...lines, 'no admin exists yet; make one with', call, ...(toSetup(settings) === 'loopback' ? [OPEN_TO_THIS_MACHINE] : [])];
}

/** Some proxies on the same machine cannot be told from it, so operators of one must know. */
const OPEN_TO_THIS_MACHINE = '  calls of this machine need no token; behind a proxy on this machine, start with --setup token';

/** The place of a database as people may see it: without a password, and without what stands behind the `?`. */
function showDatabase(database: string): string {
  if (database.startsWith('sqlite:') || !URL.canParse(database)) return database;
  const url = new URL(database);
  url.password = '';
  url.search = '';
  return url.href;
}
