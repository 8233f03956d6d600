/** The progress lines of an import: counts after each batch, the final status, and a client that disconnects. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ExpiringToken, withExpiringToken } from '../expiring-token.ts';
import type { Reply } from '../harness.ts';
import { lines, startTransferService, type TransferService } from './transfer-service.ts';

const SECRET = 'a secret of the tests of progress lines';

let transfer: TransferService;
beforeAll(async () => {
  transfer = await startTransferService({ jwtSecret: SECRET });
});
afterAll(() => transfer.close());
beforeEach(async () => {
  for (const { id } of await transfer.parts()) await transfer.call('DELETE', `/api/Part/${id}`, { token: transfer.tokens.admin });
});

const part = (index: number): object => ({ code: `P${String(index).padStart(4, '0')}`, title: `Part ${index}` });
const parts = (count: number): string => lines(...Array.from({ length: count }, (_, index) => part(index)));

interface Line {
  readonly progress?: { readonly imported: number; readonly rejected: number; readonly row: number };
  readonly row?: number;
  readonly success?: boolean;
  readonly status?: number;
  readonly code?: string;
  readonly data?: object;
}
const linesOf = (reply: Reply): readonly Line[] =>
  reply.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('an import with progress=true', () => {
  it('returns the counts after each batch, and the summary as the last line', async () => {
    const reply = await transfer.send(parts(450), { query: 'progress=true' });
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/x-ndjson']);
    const received = linesOf(reply);
    const progress = received.slice(0, -1).map((line) => line.progress);
    // A batch has at most 200 rows.
    expect(progress.length).toBeGreaterThanOrEqual(3);
    for (const each of progress) expect(each?.imported).toBe(each?.row);
    expect(progress.at(-1)).toEqual({ imported: 450, updated: 0, unchanged: 0, rejected: 0, row: 450 });
    expect(received.at(-1)).toMatchObject({ success: true, data: { imported: 450 } });
    expect(reply.headers['x-decision-id']).toBeDefined();
  });

  it('returns the rejected rows too, and the problem with its status as the last line if it stops', async () => {
    const skipped = linesOf(await transfer.send(lines(part(1), part(1), part(2)), { query: 'progress=true&onError=skip' }));
    // A slow import has several batches, each with a line of progress.
    expect(skipped.flatMap(({ row }) => row ?? [])).toEqual([2]);
    expect(skipped.slice(-2).map(({ success, progress }) => progress?.rejected ?? success)).toEqual([1, true]);
    const stopped = linesOf(
      await transfer.send(`${parts(400).split('\n').slice(10).join('\n')}${lines(part(1))}`, { query: 'progress=true' }),
    );
    expect(stopped[0]).toHaveProperty('progress');
    expect(stopped.at(-1)).toMatchObject({ success: false, status: 409, code: 'RECORD_EXISTS', data: { rejected: 1, lastRow: 391 } });
  });

  it('answers a refusal of the first batch with its own status, without lines', async () => {
    const refused = await transfer.send(lines({ code: 'A' }), { query: 'progress=true' });
    expect([refused.status, refused.at('code')]).toEqual([422, 'VALUE_INVALID']);
    expect((await transfer.send(parts(1), { query: 'progress=true', as: 'uwe' })).status).toBe(403);
  });

  it('accepts progress beside the rows of a JSON object, whose batch is all rows', async () => {
    const raw = JSON.stringify({ data: [part(1), part(2)], progress: true });
    const received = linesOf(await transfer.send(raw, { type: 'application/json' }));
    expect(received).toMatchObject([{ progress: { imported: 2, row: 2 } }, { success: true, data: { imported: 2 } }]);
  });

  it('keeps the rows of the lines that a client has read before it disconnects, and imports no further batch', async () => {
    const ending = new AbortController();
    let sent = 0;
    async function* rows(): AsyncGenerator<Uint8Array> {
      // The file does not end before the client disconnects.
      for (; !ending.signal.aborted && sent < 5000; sent += 200) {
        yield Buffer.from(lines(...Array.from({ length: 200 }, (_, index) => part(sent + index))));
        await delay(5);
      }
      while (!ending.signal.aborted) await delay(5);
    }
    const response = await fetch(`${transfer.url}/api/Part/import?progress=true`, {
      method: 'POST',
      headers: { authorization: `Bearer ${transfer.tokens.admin}`, 'content-type': 'application/x-ndjson' },
      body: ReadableStream.from(rows()),
      duplex: 'half',
      signal: ending.signal,
    } as RequestInit);
    const { value } = (await response.body?.getReader().read()) ?? {};
    const [first = ''] = Buffer.from(value ?? new Uint8Array())
      .toString()
      .split('\n');
    ending.abort();
    const reported = (JSON.parse(first) as Line).progress?.imported ?? 0;
    expect(reported).toBeGreaterThan(0);
    const count = async (): Promise<number> =>
      Number((await transfer.call('GET', '/api/Part?limit=1&total=true', { token: transfer.tokens.admin })).at('total'));
    let stored = -1;
    for (let next = await count(); next !== stored; next = await count()) {
      stored = next;
      await delay(100);
    }
    expect(stored).toBeGreaterThanOrEqual(reported);
    expect(stored).toBeLessThanOrEqual(sent);
  });
});

describe('an import whose token expires between two batches', () => {
  /** The forms of the response, each with a user of its own, because the refusals of a user share an entry. */
  const FORMS = [
    { as: 'admin', query: '', accept: 'application/json' },
    { as: 'ina', query: '', accept: 'application/x-ndjson' },
    { as: 'max', query: '?progress=true', accept: 'application/json' },
  ] as const;

  type Form = (typeof FORMS)[number];
  type LastLine = Line & { readonly data?: { readonly imported?: number }; readonly decisionId?: string };

  /** Sends a batch, waits until the token is refused, and sends another. Returns the last line of the response. */
  async function importUntilRefused({ as, query, accept }: Form, { token, refusedFrom }: ExpiringToken): Promise<LastLine> {
    // With codes of its own: an earlier run may have imported a part of its rows before its token was refused.
    const run = randomUUID().slice(0, 8);
    const batch = (from: number): Uint8Array =>
      Buffer.from(
        lines(
          ...Array.from({ length: 200 }, (_, index) => ({
            ...part(from + index),
            code: `${as} ${run} ${from + index}`,
            owner: transfer.ids.max,
          })),
        ),
      );
    async function* rows(): AsyncGenerator<Uint8Array> {
      yield batch(0);
      await delay(Math.max(0, refusedFrom - Date.now()) + 50);
      yield batch(200);
    }
    const response = await fetch(`${transfer.url}/api/Part/import${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson', accept },
      body: ReadableStream.from(rows()),
      duplex: 'half',
    } as RequestInit);
    return JSON.parse((await response.text()).trimEnd().split('\n').at(-1) ?? '');
  }

  it('names the audit entry of the refused token in every form of the response', async () => {
    const last = await Promise.all(
      FORMS.map((form) =>
        withExpiringToken({ token: transfer.tokens[form.as], secret: SECRET }, async (expiring) => {
          const line = await importUntilRefused(form, expiring);
          return line.data?.imported === 200 ? line : undefined;
        }),
      ),
    );
    const expected = { success: false, status: 401, code: 'IDENTITY_TOKEN_EXPIRED', data: { imported: 200, lastRow: 200 } };
    expect(last).toMatchObject(FORMS.map(() => expected));
    const entries = await transfer.decisions('kind=auth&action=token&outcome=IDENTITY_TOKEN_EXPIRED');
    expect(entries.map(({ id }) => id)).toEqual(expect.arrayContaining(last.map(({ decisionId }) => decisionId)));
    expect(new Set(entries.map(({ reason }) => reason))).toEqual(new Set(['the token has expired']));
  });
});
