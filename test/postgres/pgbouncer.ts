/** A real PgBouncer in transaction mode, in front of a server: started where it is installed, and asked through its own address. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { asWhom, end, findPort } from './server.ts';

/** A PgBouncer that is installed. */
export interface Installed {
  readonly program: string;
  /** Whether it keeps track of prepared statements where it is told to, as from 1.21 on. */
  readonly knowsNames: boolean;
}

/** The one of this machine, on the path or where Debian has it; undefined where there is none. */
export const installed: Installed | undefined = find();

function find(): Installed | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  const program = folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path));
  if (program === undefined) return undefined;
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' })) ?? [];
  return { program, knowsNames: Number(major) > 1 || Number(minor) >= 21 };
}

/** One that runs. */
export interface Pgbouncer {
  /** The server's address, by way of it. */
  readonly url: string;
  /** Ends it without a word, and starts it again where it was. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** How it is set. */
export interface PgbouncerOptions {
  /** Connections to the server at most; clients may have any number. */
  readonly poolSize: number;
  /** Prepared statements that it keeps track of, on a connection; 0 where it knows none. */
  readonly preparedStatements?: number;
}

/** Starts one on a free port. Throws where none is installed. */
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
    // Unknown to those that cannot.
    ...(knowsNames ? [`max_prepared_statements = ${preparedStatements}`] : []),
    // Whatever it is that goes wrong, it is tried again at once.
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
  // A test that fails before it stops it leaves none behind.
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
