import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import { casesOf } from '../budget.ts';
import { runProgram, startProgram } from './program.ts';

const ROUNDS = casesOf(2);
const CLIENTS = 8;
/** Denials per round, so that most of them are repeated. */
const DENIALS = 200;
const OPTIONS = ['--denial-window-seconds', '1', '--log-level', 'error'];

/** Kills the process while it counts denials, and checks the database directly. */
describe('kill -9 during denials of callers without a token', () => {
  const data = mkdtempSync(join(tmpdir(), 'bailiwick-kill-'));
  afterAll(() => rmSync(data, { recursive: true, force: true }));

  it(`loses no answered denial, ${ROUNDS} times, and the next start writes the numbers to the audit log`, async () => {
    const load: Load = { sent: 0, answered: 0, ids: new Set() };
    for (let round = 1; round <= ROUNDS; round++) {
      const program = await startProgram({ data, args: OPTIONS });
      const clients = Array.from({ length: CLIENTS }, () => deny(program.url, load));
      while (load.answered < round * DENIALS) await sleep(5);
      await program.stop('SIGKILL');
      await Promise.all(clients);
      expect(count(data).open).toBeGreaterThan(0);
    }
    const program = await startProgram({ data, args: OPTIONS });
    while (count(data).open > 0) await sleep(50);
    expect(await program.stop()).toBe(0);

    const { stored, repeated, hourly, ids } = count(data);
    // A denial that was committed just before the kill has no response.
    expect(stored + repeated).toBeGreaterThanOrEqual(load.answered);
    expect(stored + repeated).toBeLessThanOrEqual(load.sent);
    expect(hourly).toBe(stored + repeated);
    expect(stored).toBeLessThan(load.answered / 10);
    expect([...load.ids].filter((id) => !ids.has(id))).toEqual([]);
    const verified = await runProgram(['decisions', 'verify', '--data', data, '--json']);
    expect([verified.code, (JSON.parse(verified.out) as { breaks: unknown }).breaks]).toEqual([0, []]);
  });
});

interface Load {
  sent: number;
  answered: number;
  readonly ids: Set<string>;
}

/** Sends requests without a token until the service is gone. */
async function deny(url: string, load: Load): Promise<void> {
  for (;;) {
    try {
      load.sent++;
      const response = await fetch(`${url}/api/Tip?limit=5`);
      const { status } = response;
      await response.arrayBuffer();
      if (status !== 403) throw new Error(`expected 403, given ${status}`);
      load.answered++;
      load.ids.add(String(response.headers.get('x-decision-id')));
    } catch (error) {
      if (error instanceof TypeError) return;
      throw error;
    }
  }
}

/** Counts denials: entries, numbers in entries of kind `repeat`, numbers that are not recorded yet, and hourly counts. */
function count(data: string) {
  const database = new Sqlite(join(data, 'bailiwick.db'), { readonly: true });
  const one = (sql: string): number => database.prepare(sql).pluck().get() as number;
  const counted = {
    stored: one(`SELECT count(*) FROM "_Decision" WHERE "kind" = 'access'`),
    repeated: one(`SELECT coalesce(sum(json_extract("facts", '$.count')), 0) FROM "_Decision" WHERE "kind" = 'repeat'`),
    open: one('SELECT coalesce(sum("count"), 0) FROM "_RepeatedDenial"'),
    hourly: one('SELECT sum("denials") FROM "_DecisionHour"'),
    ids: new Set(database.prepare('SELECT "id" FROM "_Decision"').pluck().all()),
  };
  database.close();
  return counted;
}
