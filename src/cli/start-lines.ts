import type { Settings } from '../settings.ts';

/** What there is to say of a service that takes requests. */
export interface Started {
  readonly url: string;
  readonly isFollowing: boolean;
  readonly notices: readonly string[];
  readonly needsSetup: boolean;
}

/** What is printed where a service has started. */
export function describeStart(settings: Settings, { url, isFollowing, notices, needsSetup }: Started): readonly string[] {
  const lines = [
    `bailiwick listens on ${url}`,
    `  project   ${settings.project}${isFollowing ? ' (following its files)' : ''}`,
    `  database  ${showDatabase(settings.database)}`,
    ...(settings.workers > 1 ? [`  workers   ${settings.workers}`] : []),
    `  API page  ${url}/docs`,
    ...notices,
  ];
  if (!needsSetup) return lines;
  const body = '{"name":"Ada","email":"ada@example.com","password":"choose-a-password"}';
  const call = `  curl -X POST ${url}/auth/setup -H 'content-type: application/json' -d '${body}'`;
  return [...lines, 'no admin exists yet; make one with', call];
}

/** The place of a database as people may see it: without a password, and without what stands behind the `?`. */
function showDatabase(database: string): string {
  if (database.startsWith('sqlite:') || !URL.canParse(database)) return database;
  const url = new URL(database);
  url.password = '';
  url.search = '';
  return url.href;
}
