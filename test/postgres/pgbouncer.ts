/** Starts a real PgBouncer in transaction mode in front of a server, if PgBouncer is installed. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { asWhom, end, findPort } from './server.ts';

/** An installed PgBouncer. */
export interface Installed {
  readonly program: string;
  /** True if it supports prepared statements, from version 1.21 on. */
  readonly knowsNames: boolean;
}

/** PgBouncer on the path or in Debian's folder; undefined if there is none. */
export const installed: Installed | undefined = find();

function find(): Installed | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  const program = folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path));
  if (program === undefined) return undefined;
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' })) ?? [];
  return { program, knowsNames: Number(major) > 1 || Number(minor) >= 21 };
}

/** A running PgBouncer. */
export interface Pgbouncer {
  /** Address of the server through the pooler. */
  readonly url: string;
  /** Kills it, and starts it again on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Options of PgBouncer. */
export interface PgbouncerOptions {
  /** Maximum connections to the server. The number of client connections is unlimited. */
  readonly poolSize: number;
  /** Prepared statements per connection; 0 disables them. */
  readonly preparedStatements?: number;
}

/** Starts PgBouncer on a free port. Throws if it is not installed. */
export async function startPgbouncer(server: string, { poolSize, preparedStatements = 0 }: PgbouncerOptions): Promise<Pgbouncer> {
  if (installed === undefined) throw new Error('expected pgbouncer to be installed');
  const { program, knowsNames } = installed;
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-pgbouncer-'));
  const target = new URL(server);
  const port = await findPort();
  const users = join(folder, 'users.txt');
  writeFileSync(users, `"${target.username}" "${target.password}"\n`);
  const settings = [
    '[databases]',
    `* = host=${target.hostname} port=${target.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${users}`,
    'pool_mode = transaction',
    `default_pool_size = ${poolSize}`,
    // Older versions refuse this setting.
    ...(knowsNames ? [`max_prepared_statements = ${preparedStatements}`] : []),
    // Retry a failed login at once.
    'server_login_retry = 1',
  ];
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, `${settings.join('\n')}\n`);
  const who = asWhom([folder, users, file]);
  const run = async (): Promise<ChildProcess> => {
    const started = spawn(program, [file], { ...who, stdio: ['ignore', 'ignore', 'pipe'] });
    await untilReady(started);
    return started;
  };
  let running = await run();
  const url = new URL(server);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    async restart() {
      await end(running, 'SIGKILL');
      running = await run();
    },
    async stop() {
      await end(running, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function untilReady(started: ChildProcess): Promise<void> {
  // Ends PgBouncer even if a test fails before it stops it.
  const orphan = (): boolean => started.kill('SIGKILL');
  process.once('exit', orphan);
  return new Promise((resolve, reject) => {
    let said = '';
    started.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-10_000);
      if (said.includes('process up')) resolve();
    });
    started.once('error', reject);
    started.once('exit', () => {
      process.off('exit', orphan);
      reject(new Error(`pgbouncer did not start:\n${said}`));
    });
  });
}
