import type { ProjectStatus } from '../project/index.ts';
import type { CliCommand } from './cli-context.ts';

/** Prints the state of a project's data. */
export const status: CliCommand = {
  name: 'status',
  summary: 'print the state of the data: revision, pending migrations, users, policies, last backup',
  details:
    'Changes nothing. The service may be running. While another process migrates the tables, the command waits and says so. The exit code is 1 if a start would fail or not migrate a resource, or if rows are damaged.',
  settings: 'database',
  flags: { '--json': 'print the state as JSON' },
  async run(context, config, flags) {
    const found = await context.loadStatus(config);
    if (flags.has('json')) context.print(JSON.stringify({ version: context.version, ...found }, undefined, 2));
    else for (const [name, value] of describe(found, context.version)) context.print(`${`${name}:`.padEnd(12)}${value}`);
    const { migration, damaged = [] } = found;
    return migration?.refused !== undefined || (migration?.held.length ?? 0) > 0 || damaged.length > 0 ? 1 : 0;
  },
};

function describe(found: ProjectStatus, version: string): readonly (readonly [name: string, value: string])[] {
  const { project, database, databaseVersion, revision, migration, lastBackup, lastEntryAt, damaged = [] } = found;
  const shown: readonly (readonly [string, string])[] = [
    ['version', version],
    ['project', project],
    [
      'database',
      databaseVersion === undefined ? `${database}; it does not exist yet, and a start creates it` : `${database} ${databaseVersion}`,
    ],
  ];
  if (revision === undefined || migration === undefined) return shown;
  return [
    ...shown,
    ['revision', String(revision)],
    ['migrations', describeMigration(migration)],
    ['users', `${found.users}, of which ${found.admins} active ${found.admins === 1 ? 'admin' : 'admins'}`],
    ['policies', `${found.policies}, of which ${found.activePolicies} active`],
    ['audit log', lastEntryAt === undefined ? 'no entries' : `last entry at ${lastEntryAt}`],
    ['backup', lastBackup === undefined ? 'no automatic backup' : `${lastBackup.name}, ${lastBackup.bytes} bytes`],
    ...damaged.map((line) => ['damaged', line] as const),
  ];
}

function describeMigration({ steps, held, refused }: NonNullable<ProjectStatus['migration']>): string {
  if (refused !== undefined) return `${refused}; see "bailiwick storage plan"`;
  if (held.length > 0) return `${held.join(', ')} would not be migrated; see "bailiwick storage plan"`;
  return steps === 0 ? 'none pending' : `${steps} steps at the next start; see "bailiwick storage plan"`;
}
