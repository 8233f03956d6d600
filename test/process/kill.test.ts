import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { casesOf } from '../budget.ts';
import { runProgram, setUp, startProgram } from './program.ts';

const ROUNDS = casesOf(3);
const CLIENTS = 8;

/** Kills the process under load, and checks the database directly. */
describe('kill -9 under load', () => {
  const data = mkdtempSync(join(tmpdir(), 'bailiwick-kill-'));
  const answered = { decisions: new Set<string>(), created: new Set<string>() };
  let token = '';

  beforeAll(async () => {
    const program = await startProgram({ data });
    token = await setUp(program.url);
    expect(await program.stop()).toBe(0);
  });
  afterAll(() => rmSync(data, { recursive: true, force: true }));

  it(`kill -9 under load loses no acknowledged record and no entry, ${ROUNDS} times`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const program = await startProgram({ data, args: ['--log-level', 'error'] });
      const clients = Array.from({ length: CLIENTS }, (_, index) => work(program.url, token, { reads: index % 2 === 0, answered }));
      // Waits for responses, not only for time: a busy machine would answer little before.
      const enough = answered.decisions.size + CLIENTS + 1;
      while (answered.decisions.size < enough) await sleep(5);
      await sleep(Math.random() * 200);
      await program.stop('SIGKILL');
      await Promise.all(clients);
    }
    const database = new Sqlite(join(data, 'bailiwick.db'), { readonly: true });
    const kept = { decisions: idsOf(database, '_Decision'), created: idsOf(database, 'Tip') };
    const entriesOf = new Set(
      database.prepare(`SELECT COUNT(*) FROM "_Decision" WHERE action = 'create' AND resource = 'Tip' AND allowed = 1`).pluck().all(),
    );
    database.close();

    expect(answered.decisions.size).toBeGreaterThan(ROUNDS * CLIENTS);
    expect(answered.created.size).toBeGreaterThan(ROUNDS);
    expect([...answered.decisions].filter((id) => !kept.decisions.has(id))).toEqual([]);
    expect([...answered.created].filter((id) => !kept.created.has(id))).toEqual([]);
    // A change exists if and only if its entry exists.
    expect(entriesOf).toEqual(new Set([kept.created.size]));
    // Every hash chain is valid up to its end.
    const verified = await runProgram(['decisions', 'verify', '--data', data, '--json']);
    const { chains, breaks } = JSON.parse(verified.out) as { chains: number; breaks: unknown };
    expect([verified.code, breaks]).toEqual([0, []]);
    expect(chains).toBeGreaterThan(ROUNDS);
  });
});

interface Work {
  readonly reads: boolean;
  readonly answered: { readonly decisions: Set<string>; readonly created: Set<string> };
}

/** Sends requests until the service is gone; collects the responses. */
async function work(url: string, token: string, { reads, answered }: Work): Promise<void> {
  for (let count = 0; ; count++) {
    try {
      const response = reads
        ? await fetch(`${url}/api/Tip?limit=5`, { headers: { authorization: `Bearer ${token}` } })
        : await post(`${url}/api/Tip`, { subject: `tip ${count}`, text: 'something happened' }, token);
      const body = (await response.json()) as { data: { id: string } };
      if (response.status >= 400) throw new Error(`answered ${response.status} ${JSON.stringify(body)}`);
      answered.decisions.add(String(response.headers.get('x-decision-id')));
      if (!reads) answered.created.add(String(body.data.id));
    } catch (error) {
      if (error instanceof TypeError || error instanceof SyntaxError) return;
      throw error;
    }
  }
}

function idsOf(database: Sqlite.Database, table: string): Set<string> {
  return new Set(database.prepare(`SELECT id FROM "${table}"`).pluck().all() as string[]);
}

function post(url: string, body: unknown, token?: string): Promise<Response> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...authorization }, body: JSON.stringify(body) });
}
