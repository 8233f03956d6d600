/** A service whose log cannot be written: the disk is full, the terminal or the reader went away, or the reader is slow. */
import { type ChildProcess, execFileSync, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { bundleProgram } from './bundle.ts';
import { startProgram } from './program.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-log-'));
const root = fileURLToPath(new URL('../..', import.meta.url));
const children: ChildProcess[] = [];
const mounted: string[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  for (const at of mounted) spawnSync('umount', ['-l', at]);
  rmSync(folder, { recursive: true, force: true });
});

/** Long, because the machine may be busy. */
const PATIENT = { timeout: 60_000, interval: 50 };

const hasPython = spawnSync('python3', ['--version']).status === 0;

/** Starts a command on a terminal of which it is not the session, so that it gets no SIGHUP. Closes the terminal when a line arrives on standard input. */
const ON_TERMINAL = `import os, pty, subprocess, sys
master, slave = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, start_new_session=True)
os.close(slave)
sys.stdin.readline()
os.close(master)
print(child.pid, flush=True)
sys.exit(child.wait())`;

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

interface Logged {
  readonly url: string;
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
}

/** Starts a service with an access log whose output goes elsewhere than to this process. */
async function startLogged(stdio: StdioOptions, { runner = [], args = [] }: { runner?: string[]; args?: string[] } = {}): Promise<Logged> {
  const port = await findPort();
  const data = mkdtempSync(join(folder, 'data-'));
  const program = [process.execPath, await bundleProgram(), 'start', '--project', 'examples/newsroom', '--data', data];
  const [file = '', ...given] = [...runner, ...program, '--port', `${port}`, '--access-log', 'on', ...args];
  const child = spawn(file, given, { cwd: root, stdio });
  children.push(child);
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const url = `http://127.0.0.1:${port}`;
  await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), PATIENT);
  return { url, child, ended };
}

/** Sends requests one after the other; returns the distinct statuses. Their log lines have the length of the path at least. */
async function request(url: string, count: number, path = '/healthz'): Promise<readonly number[]> {
  const statuses = new Set<number>();
  for (let sent = 0; sent < count; sent++) {
    const answer = await fetch(url + path, { signal: AbortSignal.timeout(60_000) });
    await answer.arrayBuffer();
    statuses.add(answer.status);
  }
  return [...statuses];
}

function linesOf(log: string): readonly Record<string, unknown>[] {
  return log.split('\n').flatMap((line) => {
    try {
      return line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : [];
    } catch {
      // The disk was full after the beginning of this line.
      return [];
    }
  });
}

describe.concurrent('a log on a full disk', () => {
  it.each([[['--workers', '1']], [['--workers', '2']]])(
    'drops its lines with %j; requests are answered and SIGTERM ends the service',
    async (args) => {
      const full = openSync('/dev/full', 'w');
      const { url, child, ended } = await startLogged(['ignore', full, full], { args });
      closeSync(full);
      expect(await request(url, 50)).toEqual([200]);
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
    },
  );

  it.skipIf(!canMount())('goes on when there is space, and tells how many lines were dropped', async () => {
    const disk = join(folder, 'disk');
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
    mounted.push(disk);
    const log = openSync(join(disk, 'log'), 'a');
    const { url, child, ended } = await startLogged(['ignore', log, log]);
    closeSync(log);
    expect(await request(url, 50, `/${'x'.repeat(4000)}`)).toEqual([404]);
    const filled = readFileSync(join(disk, 'log'), 'utf8');
    expect(filled.length).toBe(65_536);
    writeFileSync(join(disk, 'log'), '');
    expect(await request(url, 1)).toEqual([200]);
    // A response arrives before its line is written.
    const lines = await vi.waitFor(() => {
      const all = linesOf(readFileSync(join(disk, 'log'), 'utf8'));
      expect(all.at(-1)?.['path']).toBe('/healthz');
      return all;
    }, PATIENT);
    const dropped = lines.filter((line) => 'dropped' in line);
    expect(dropped).toEqual([
      expect.objectContaining({ level: 40, msg: `${dropped[0]?.['dropped']} log lines could not be written and were dropped` }),
    ]);
    expect(Number(dropped[0]?.['dropped'])).toBeGreaterThan(10);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});

function canMount(): boolean {
  const at = join(folder, 'disk');
  mkdirSync(at);
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', at]).status === 0 && spawnSync('umount', [at]).status === 0;
}

describe.concurrent('a reader of the log', () => {
  it.skipIf(!hasPython)('answers requests when its terminal has gone away', async () => {
    const { url, child, ended } = await startLogged(['pipe', 'pipe', 'inherit'], { runner: ['python3', '-c', ON_TERMINAL] });
    child.stdin?.write('close\n');
    const [pid] = await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
    expect(await request(url, 50)).toEqual([200]);
    process.kill(Number(pid), 'SIGTERM');
    expect(await ended).toBe(0);
  });

  it.each(['start', 'dev'] as const)('answers requests of bailiwick %s when the pipe was closed', async (command) => {
    const program = await startProgram({ data: join(folder, `closed-${command}`), command, args: ['--access-log', 'on'] });
    program.child.stdout?.destroy();
    program.child.stderr?.destroy();
    expect(await request(program.url, 50)).toEqual([200]);
    expect(await program.stop()).toBe(0);
  });

  it('answers requests when nothing reads the log, drops lines, and writes the others as a whole', async () => {
    const program = await startProgram({ data: join(folder, 'slow'), args: ['--access-log', 'on', '--workers', '2'] });
    // The system writes lines of up to 4096 bytes to a pipe as a whole.
    const path = `/${'x'.repeat(3500)}`;
    program.child.stdout?.pause();
    const connections = [request(program.url, 450, path), request(program.url, 450, path)];
    expect(await Promise.all(connections)).toEqual([[404], [404]]);
    void program.child.stdout?.resume();
    await vi.waitFor(async () => {
      await request(program.url, 2);
      expect(program.printed()).toContain('were dropped');
    }, PATIENT);
    expect(await program.stop()).toBe(0);
    const lines = program
      .printed()
      .split('\n')
      .filter((line) => line.includes('"msg"'));
    expect(lines.filter((line) => !(line.startsWith('{') && line.endsWith('}')))).toEqual([]);
  });
});
