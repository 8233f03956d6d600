/** Starts the program in its own process, reads its output, sends requests and stops it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { bundleProgram } from './bundle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Path of the command in the checkout, which runs the built program or else the sources. */
export const CHECKOUT: string = join(root, 'bin/bailiwick.js');
/** Path of the program in its sources. */
export const SOURCES: string = join(root, 'src/main.ts');
/** Milliseconds to wait for output. Long, because the machine may be busy. */
const PATIENCE = 110_000;

/** Exit code and output of a command. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command to its end, by default of the program that is built from the sources. */
export async function runProgram(args: readonly string[], env: Readonly<Record<string, string>> = {}, main?: string): Promise<Ended> {
  const command = [main ?? (await bundleProgram()), ...args];
  return new Promise((resolve) => {
    const options = { cwd: root, env: { ...process.env, ...env }, timeout: PATIENCE };
    const child = execFile(process.execPath, command, options, (_, out, err) => resolve({ code: child.exitCode, out, err }));
  });
}

/** Runs a command whose reader closes the pipe at once, as `… | head -0` does; returns the exit code. */
export async function runUnread(args: readonly string[]): Promise<number | null> {
  const child = spawn(process.execPath, [await bundleProgram(), ...args], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.destroy();
  const [code] = await once(child, 'exit');
  return code as number | null;
}

/** A running service. */
export interface Program {
  readonly url: string;
  readonly child: ChildProcess;
  /** Returns its output so far, on both streams. */
  printed(): string;
  /** Resolves when the output contains this text. */
  prints(text: string): Promise<void>;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
  /** Sends a signal; returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Options of a start. The default project is the newsroom. */
export interface Start {
  readonly data: string;
  readonly project?: string;
  readonly command?: 'start' | 'dev';
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A module that is loaded before the program. */
  readonly preload?: string;
  /** Path of the program. Default: the one that is built from the sources. */
  readonly main?: string;
  /** A command that runs the program, with its arguments, such as strace. */
  readonly runner?: readonly string[];
}

/** Starts a service on a free port; resolves when it listens and has printed its messages. */
export async function startProgram({ data, project = 'examples/newsroom', command = 'start', ...how }: Start): Promise<Program> {
  const { args = [], env = {}, preload, main, runner = [] } = how;
  const [file = '', ...given] = [...runner, process.execPath];
  const program = [...given, ...(preload === undefined ? [] : ['--import', preload]), main ?? (await bundleProgram())];
  const child = spawn(file, [...program, command, '--project', project, '--data', data, '--port', '0', ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Ends the program even if a test fails before it stops it.
  const orphan = (): boolean => child.kill('SIGKILL');
  process.once('exit', orphan);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  let over = false;
  void ended.then(() => {
    over = true;
    process.off('exit', orphan);
  });

  async function waitFor(what: string, isThere: () => boolean): Promise<void> {
    for (const from = performance.now(); !isThere() && !over && performance.now() - from < PATIENCE; ) await pause(10);
    if (!isThere()) throw new Error(`expected ${what} in what the program prints, which was: ${text}`);
  }

  const listening = /listens on (\S+)\n/;
  await waitFor('an address', () => listening.test(text));
  const url = listening.exec(text)?.[1] ?? '';
  return {
    url,
    child,
    ended,
    printed: () => text,
    prints: (part) => waitFor(part, () => text.includes(part)),
    stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}

/** The response to a request. */
export interface Reply {
  readonly status: number;
  readonly decisionId: string | null;
  readonly body: { readonly code?: string; readonly data?: unknown; readonly detail?: string } & Readonly<Record<string, unknown>>;
  /** When the request was sent, and when the head of the response arrived, in milliseconds of one clock. */
  readonly sentAt: number;
  readonly arrivedAt: number;
}

/** Token, body and headers of a request. */
export interface Sent {
  readonly token?: string;
  readonly body?: unknown;
  readonly requestId?: string;
}

/** Sends one request and reads the whole response. */
export async function send(
  url: string,
  call: `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`,
  { token, body, requestId }: Sent = {},
): Promise<Reply> {
  const [method = '', path = ''] = call.split(' ', 2);
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(requestId !== undefined && { 'x-request-id': requestId }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const sentAt = performance.now();
  const answer = await fetch(url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const arrivedAt = performance.now();
  const decisionId = answer.headers.get('x-decision-id');
  return { status: answer.status, decisionId, body: (await answer.json()) as Reply['body'], sentAt, arrivedAt };
}

/** The first admin. */
export const ADMIN = { email: 'ada@example.com', password: 'correct horse battery', name: 'Ada' };

/** Creates the first admin; returns the token. */
export async function setUp(url: string): Promise<string> {
  await expectDone(send(url, 'POST /auth/setup', { body: ADMIN }));
  return logIn(url, ADMIN.email);
}

/** Logs a user in. All users of these tests have the same password. */
export async function logIn(url: string, email: string): Promise<string> {
  const { body } = await expectDone(send(url, 'POST /auth/login', { body: { email, password: ADMIN.password } }));
  return String(body['token']);
}

/** Creates a user with this role; returns the id. */
export async function createUser(url: string, token: string, { email, role }: { email: string; role: string }): Promise<string> {
  const made = await expectDone(send(url, 'POST /api/User', { token, body: { name: email, email, role, password: ADMIN.password } }));
  return idOf(made);
}

/** Returns the id of the record in a response. */
export function idOf({ body }: Reply): string {
  return String((body.data as { id?: unknown } | undefined)?.id);
}

/** Returns the response; throws unless it is a success. */
export async function expectDone(reply: Promise<Reply>): Promise<Reply> {
  const done = await reply;
  if (done.status >= 300) throw new Error(`expected success, given ${done.status} ${JSON.stringify(done.body)}`);
  return done;
}

/** Queries the SQLite file directly; returns the first column. */
export function query(data: string, sql: string): readonly unknown[] {
  const database = new Sqlite(join(data, 'bailiwick.db'), { readonly: true });
  try {
    return database.prepare(sql).pluck().all();
  } finally {
    database.close();
  }
}

/** Waits for this number of milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Milliseconds in which a client must send its request: a service that stops closes connections that are unused for 500 ms. */
const PROMPT = 400;

/**
 * Connects and sends one request; returns the status line, or the error that ended the connection. Returns `late` if the connection ended without
 * an answer and this process was too busy to send the request promptly.
 */
export function connectAndAsk(url: string, onSent?: () => void): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((settle) => {
    let received = '';
    const began = performance.now();
    let sentAfter = 0;
    const resolve = (end: string): void => settle(received === '' && sentAfter > PROMPT ? 'late' : end);
    const socket = connect(Number(port), hostname, () => {
      sentAfter = performance.now() - began;
      socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n', onSent);
    });
    socket.setEncoding('utf8').on('data', (chunk) => {
      received += chunk;
      if (received.includes('"status":"ok"')) socket.end();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on('close', () => resolve(received.slice(0, 12) || 'closed without an answer'));
  });
}

/** A module that blocks a program when it is stopped, and the files by which it and the test wait for each other. */
export interface Hold {
  readonly preload: string;
  /** The program creates this file when it blocks. */
  readonly held: string;
  /** The program continues when this file exists. */
  readonly released: string;
}

/** Writes a module that blocks its process while connections wait in the queue of the kernel. `when` is code that calls `hold`. */
export function writeHold(folder: string, when: string): Hold {
  const at = mkdtempSync(join(folder, 'hold-'));
  const hold = { preload: join(at, 'hold.mjs'), held: join(at, 'held'), released: join(at, 'released') };
  const [held, released] = [JSON.stringify(hold.held), JSON.stringify(hold.released)];
  writeFileSync(
    hold.preload,
    `import { existsSync, writeFileSync } from 'node:fs';
    function hold() {
      writeFileSync(${held}, '');
      while (!existsSync(${released})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
    ${when}`,
  );
  return hold;
}

/** Resolves when the program blocks. */
export async function untilHeld({ held }: Hold): Promise<void> {
  while (!existsSync(held)) await pause(10);
}

/** Stops a program, opens 96 connections with a request each while it blocks, for so long at least, and returns the distinct answers. */
export async function answersOfQueue({ url, child }: Program, hold: Hold, blockedMs = 0): Promise<readonly string[]> {
  child.kill('SIGTERM');
  await untilHeld(hold);
  const sent = Array.from({ length: 96 }, () => Promise.withResolvers<void>());
  const ends = sent.map(({ resolve }) => connectAndAsk(url, resolve));
  await Promise.all([pause(blockedMs), ...sent.map(({ promise }) => promise)]);
  writeFileSync(hold.released, '');
  return [...new Set(await Promise.all(ends))];
}

/** Milliseconds after a stop in which clients connect. A second after it, the program closes the listener even if connections arrive. */
const CONNECTING = 300;

/**
 * Opens a connection each millisecond, 200 in all, stops the program with SIGTERM at the 141st, and returns the distinct answers. Refused
 * connections and late requests are left out.
 */
export async function answersAroundStop(program: Program): Promise<readonly string[]> {
  const ends: Promise<string>[] = [];
  let stoppedAt = Number.POSITIVE_INFINITY;
  for (let sent = 0; sent < 200 && performance.now() - stoppedAt < CONNECTING; sent++) {
    ends.push(connectAndAsk(program.url));
    if (sent === 140) {
      program.child.kill('SIGTERM');
      stoppedAt = performance.now();
    }
    await pause(1);
  }
  const seen = new Set(await Promise.all(ends));
  seen.delete('ECONNREFUSED');
  seen.delete('late');
  return [...seen];
}
