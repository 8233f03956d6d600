import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  answersAroundStop,
  answersOfQueue,
  connectAndAsk,
  expectDone,
  idOf,
  pause,
  query,
  send,
  setUp,
  startProgram,
  untilHeld,
  writeHold,
} from './program.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-stop-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('SIGTERM under load', () => {
  it('SIGTERM under load commits and answers the requests in flight, and exits with 0', async () => {
    const data = join(folder, 'drained');
    const program = await startProgram({ data, args: ['--drain-seconds', '600'] });
    const token = await setUp(program.url);
    const answered = { decisions: new Set<string | null>(), created: new Set<string>(), failed: [] as unknown[] };
    const clients = Array.from({ length: 8 }, () => createUntilGone(program.url, token, answered));
    while (answered.created.size <= 20) await pause(5);
    // Long before the ten minutes for which it would wait for open connections.
    expect(await program.stop('SIGTERM')).toBe(0);
    await Promise.all(clients);

    expect(answered.failed).toEqual([]);
    expect(new Set(query(data, `SELECT id FROM Tip`))).toEqual(answered.created);
    const kept = new Set(query(data, 'SELECT id FROM _Decision'));
    expect([...answered.decisions].filter((id) => !kept.has(id))).toEqual([]);
    expect(query(data, 'PRAGMA integrity_check')).toEqual(['ok']);
  });
});

describe('refused tokens', () => {
  it('records the number of refused tokens of the last minute when it stops', async () => {
    const data = join(folder, 'refused');
    const program = await startProgram({ data });
    for (let sent = 0; sent < 5; sent++) expect((await send(program.url, 'GET /api/Tip', { token: 'a.b.c' })).status).toBe(401);
    expect(await program.stop('SIGTERM')).toBe(0);
    expect(query(data, `SELECT json_extract(facts, '$.count') FROM _Decision WHERE kind = 'auth' ORDER BY id`)).toEqual([null, 4]);
  });
});

describe('connections that were established before the listener closes', () => {
  it.concurrent.each([
    ['one process', []],
    ['one process with a drain delay', ['--drain-delay-seconds', '1']],
  ])('connections from before the listener closes are all answered by %s', async (name, args) => {
    const hold = writeHold(folder, "process.on('SIGTERM', hold);");
    const program = await startProgram({ data: join(folder, `queue of ${name}`), preload: hold.preload, args });
    expect(await answersOfQueue(program, hold)).toEqual(['HTTP/1.1 200']);
    expect(await program.ended).toBe(0);
  });

  it.concurrent('connections from before the listener closes are all answered by a process that is too busy to accept them in time', async () => {
    // Blocks the process when it waits for a turn without a new connection, and for longer than it waits if connections keep arriving.
    const hold = writeHold(
      folder,
      `const begin = setTimeout;
      let isHeld = false;
      const beginAfterHold = (run, ms, ...rest) => {
        if (ms === 1 && !isHeld) (isHeld = true, hold());
        return begin(run, ms, ...rest);
      };
      process.on('SIGTERM', () => (globalThis.setTimeout = beginAfterHold));`,
    );
    const program = await startProgram({ data: join(folder, 'busy'), preload: hold.preload });
    expect(await answersOfQueue(program, hold, 1100)).toEqual(['HTTP/1.1 200']);
    expect(await program.ended).toBe(0);
  });

  it('a connection is answered if its request arrives while the process is blocked', async () => {
    // Blocks the process when it begins the 500 ms after which connections without a request are closed.
    const hold = writeHold(
      folder,
      `const begin = setTimeout;
      const beginAndHold = (run, ms, ...rest) => (ms === 500 && setImmediate(hold), begin(run, ms, ...rest));
      process.on('SIGTERM', () => (globalThis.setTimeout = beginAndHold));`,
    );
    const program = await startProgram({ data: join(folder, 'blocked'), preload: hold.preload });
    const { hostname, port } = new URL(program.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    // The response of another connection shows that this one was accepted.
    await connectAndAsk(program.url);
    program.child.kill('SIGTERM');
    await untilHeld(hold);
    const answer = once(socket, 'data');
    await new Promise<unknown>((sent) => socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n', sent));
    await pause(600);
    writeFileSync(hold.released, '');
    expect(String(await answer)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await program.ended).toBe(0);
  });

  it('connections from before the listener closes are answered or refused under load, and never reset', async () => {
    const program = await startProgram({ data: join(folder, 'queue under load') });
    expect(await answersAroundStop(program)).toEqual(['HTTP/1.1 200']);
    expect(await program.ended).toBe(0);
  });
});

interface Answered {
  readonly decisions: Set<string | null>;
  readonly created: Set<string>;
  readonly failed: unknown[];
}

async function createUntilGone(url: string, token: string, { decisions, created, failed }: Answered): Promise<void> {
  for (;;) {
    try {
      const reply = await expectDone(send(url, 'POST /api/Tip', { token, body: { subject: 'a tip', text: 'something happened' } }));
      decisions.add(reply.decisionId);
      created.add(idOf(reply));
    } catch (error) {
      // The connection may be refused or closed. Every response must be a success.
      if (!(error instanceof TypeError)) failed.push(error);
      return;
    }
  }
}

describe('a second signal', () => {
  it.concurrent.each(['SIGINT', 'SIGTERM'] as const)('a second %s ends a draining service at once, with exit code 1', async (signal) => {
    const program = await startProgram({ data: join(folder, signal), args: ['--drain-seconds', '60'] });
    const { hostname, port } = new URL(program.url);
    // A request whose body never arrives.
    const slow = connect(Number(port), hostname);
    slow.on('error', () => undefined);
    const request = 'POST /auth/setup HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{';
    await new Promise<unknown>((sent) => slow.write(request, sent));
    // The response of a later connection shows that the request has arrived.
    await connectAndAsk(program.url);
    program.child.kill(signal);
    // npm forwards a signal that the terminal has already sent.
    program.child.kill(signal);
    expect(await Promise.race([program.ended, pause(800).then(() => 'draining')])).toBe('draining');
    // A busy program may handle the first signal late. It then closes its listener, and ignores further signals for half a second.
    while ((await connectAndAsk(program.url)) !== 'ECONNREFUSED') await pause(10);
    await pause(600);
    // Once: a signal that arrives while the program exits would kill it.
    expect(await program.stop(signal)).toBe(1);
    slow.destroy();
  });
});
