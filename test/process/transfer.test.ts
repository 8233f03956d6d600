/** Long imports in a separate process: killed in the middle, and with other requests at the same time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { casesOf } from '../budget.ts';
import { type Program, query, send, setUp, startProgram } from './program.ts';

const ROUNDS = casesOf(2);
/** Rows of an import and an export with many batches: a batch has at most 100 rows. */
const ENOUGH = 800;

const data = mkdtempSync(join(tmpdir(), 'bailiwick-transfer-'));
let token = '';

beforeAll(async () => {
  const program = await startProgram({ data });
  token = await setUp(program.url);
  expect(await program.stop()).toBe(0);
});
afterAll(() => rmSync(data, { recursive: true, force: true }));

const count = (sql: string): number => Number(query(data, `SELECT count(*) FROM ${sql}`)[0]);
const stored = (): number => count('"Tip"');
const ENTRIES = `"_Decision" WHERE "action" = 'import' AND "resource" = 'Tip' AND "allowed" = 1 AND "outcome" IS NULL`;

describe('an import', () => {
  it(`an import that is killed leaves whole rows with their entries, ${ROUNDS} times`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const before = stored();
      const program = await startProgram({ data, args: ['--log-level', 'error'] });
      const importing = importTips(program, tips()).catch(() => undefined);
      // Waits for rows, not only for time: a busy machine would store nothing before, and one row would always be whole.
      while (stored() < before + 2) await sleep(20);
      await sleep(Math.random() * 200);
      await program.stop('SIGKILL');
      await importing;
      expect(stored()).toBe(count(ENTRIES));
    }
    expect(stored()).toBeGreaterThanOrEqual(2 * ROUNDS);
  });

  it('an import does not block other requests', async () => {
    const program = await startProgram({ data, args: ['--log-level', 'error'] });
    let isOver = false;
    let answered = 0;
    // The import ends after the answers, so it would never end if it blocked them.
    const importing = importTips(program, tips({ until: (rows) => rows >= ENOUGH && answered > 20 })).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      expect((await send(program.url, 'GET /api/Tip?limit=1', { token })).status).toBe(200);
      if (!isOver) answered++;
    }
    const { imported, rejected } = (await importing).data ?? {};
    expect([Number(imported) >= ENOUGH, rejected]).toEqual([true, 0]);
    expect(stored()).toBe(count(ENTRIES));
    expect(await program.stop()).toBe(0);
  }, 120_000);

  it('an export of many imported rows is complete', async () => {
    const program = await startProgram({ data, args: ['--log-level', 'error'] });
    const headers = { authorization: `Bearer ${token}` };
    const file = await (await fetch(`${program.url}/api/Tip/export?format=csv`, { method: 'POST', headers })).text();
    expect(file.split('\r\n')).toHaveLength(stored() + 2);
    expect(await program.stop()).toBe(0);
  }, 120_000);
});

interface Imported {
  readonly data?: { readonly imported: number; readonly rejected: number };
}

const BLOCK = 100;

/** Generates tips, without an end by default. */
async function* tips({ until = () => false }: { until?: (rows: number) => boolean } = {}): AsyncGenerator<Uint8Array> {
  for (let from = 0; !until(from); from += BLOCK) {
    const lines = Array.from({ length: BLOCK }, (_, index) => `{"subject":"tip ${from + index}","text":"something happened"}\n`);
    yield Buffer.from(lines.join(''));
    // Stops when the reader is gone. Enough rows are followed by few, because a busy machine takes long for the answers that are awaited.
    await sleep(from < ENOUGH ? 1 : 50);
  }
}

async function importTips({ url }: Program, body: AsyncIterable<Uint8Array>): Promise<Imported> {
  const answer = await fetch(`${url}/api/Tip/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
    body: ReadableStream.from(body),
    duplex: 'half',
  } as RequestInit);
  return (await answer.json()) as Imported;
}
