/** Import files that are too large, malformed, slow or incomplete. */
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AttackTarget, expectDiscreet, startAttackTarget } from './attack-target.ts';

let target: AttackTarget;
/** The token of Eve, who may import. */
let token: string;
beforeAll(async () => {
  target = await startAttackTarget({ importStreamBytes: 30_000_000 });
  token = await target.logIn(target.emails.eve, target.passwords);
});
afterAll(() => target.close());

afterEach(async () => {
  expect((await target.as('admin', 'GET', `/api/Case/${target.cases.alice}`)).status).toBe(200);
});

const MB10 = 'x'.repeat(10_000_000);
const columns = (count: number): string => Array.from({ length: count }, (_, index) => `c${index}`).join(',');

/** Name, media type, content, expected status and part of the expected detail. */
const FILES: readonly (readonly [string, string, string, number, string])[] = [
  [
    'a line of 10 MB',
    'application/x-ndjson',
    `{"title":"${MB10}"}\n{"title":"after"}`,
    400,
    'row 1: expected a line of at most 1048576 characters',
  ],
  ['a line of 10 MB without an end', 'application/x-ndjson', MB10, 400, 'row 1: expected a line of at most'],
  ['a cell of 10 MB', 'text/csv', `title\n${MB10}\n`, 400, 'the row is too long'],
  ['a quoted cell of 10 MB', 'text/csv', `title\n"${MB10}"\n`, 400, 'the row is too long'],
  ['an unclosed quote', 'text/csv', `title\n"a\nb\nc`, 400, 'expected a closing quote'],
  ['10,000 columns', 'text/csv', `${columns(10_000)}\n`, 400, 'the header has 100 mistakes'],
  ['a row of 10,000 cells', 'text/csv', `title\n${','.repeat(9999)}\n`, 400, 'row 2: expected 1 cell, as in the header, given 10000'],
  ['a row of only delimiters', 'text/csv', `title\n${','.repeat(2_000_000)}`, 400, 'expected at most 10000 cells in a row'],
  ['the same column twice', 'text/csv', 'title,title\na,b\n', 400, 'the header has 1 mistake'],
  ['prototype names as columns', 'text/csv', 'title,__proto__,constructor\na,b,c\n', 400, 'the header has 2 mistakes'],
  [
    'prototype names as members',
    'application/x-ndjson',
    '{"title":"a","__proto__":{"pin":1},"constructor":{}}',
    422,
    'row 1: 2 values are not acceptable',
  ],
  ['an item of 10 MB', 'application/json', `[{"title":"${MB10}"}]`, 400, 'expected items of at most 1048576 characters'],
  ['100,000 lists deep', 'application/json', `[${'['.repeat(100_000)}`, 400, 'the array in the body is incomplete'],
  [
    'an item 100,000 deep',
    'application/json',
    `[{"title":"x","extra":${'['.repeat(100_000)}${']'.repeat(100_000)}}]`,
    400,
    'row 1: expected at most 64 levels',
  ],
  ['a cell 100,000 deep', 'text/csv', `title,extra\nx,${'['.repeat(100_000)}\n`, 422, 'row 2: 1 value is not acceptable'],
  ['half a record', 'application/json', '[{"title":"a","amount":1', 400, 'the array in the body is incomplete'],
  ['NUL', 'application/x-ndjson', '{"title":"a\\u0000b"}', 422, 'row 1: 1 value is not acceptable'],
  ['NUL in a cell', 'text/csv', 'title\na\u0000b\n', 422, 'row 2: 1 value is not acceptable'],
  ['operators for values', 'application/x-ndjson', '{"title":{"$ne":null}}', 422, 'row 1: 1 value is not acceptable'],
  ['a batch', 'application/x-ndjson', '{"requests":[]}', 422, 'row 1: 2 values are not acceptable'],
];

describe('a file', () => {
  it.each(FILES)('names the reason why a file with %s is refused, and stores nothing', async (_, type, raw, status, detail) => {
    const before = await target.countCases();
    const reply = await target.as('eve', 'POST', '/api/Case/import', { raw, headers: { 'content-type': type } });
    expectDiscreet(reply);
    expect([reply.status, reply.at('detail')]).toEqual([status, expect.stringContaining(detail)]);
    expect(await target.countCases()).toBe(before);
  });

  it.each(FILES)('refuses a file with %s unread to a caller who may not import', async (_, type, raw) => {
    const reply = await target.as('anon', 'POST', '/api/Case/import', { raw, headers: { 'content-type': type } });
    expectDiscreet(reply);
    expect([reply.status, reply.at('code')]).toEqual([403, 'ACCESS_DENIED']);
  });

  it('refuses a file with too many bytes before they arrive if Content-Length is sent', async () => {
    const head = `POST /api/Case/import HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nContent-Length: 30000001\r\n\r\n`;
    expect(await sendTexts(target, [head])).toContain('HTTP/1.1 413');
  });

  it('refuses a file with too many bytes as they arrive if no Content-Length is sent', async () => {
    const head = `POST /api/Case/import?onError=skip HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`;
    const lines = `${'x'.repeat(999_999)}\n`.repeat(31);
    const body = `Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n${lines.length.toString(16)}\r\n${lines}\r\n0\r\n\r\n`;
    const answer = await sendTexts(target, [head, body]);
    expect(answer).toContain('HTTP/1.1 413');
    expect(answer).toContain('"code":"REQUEST_TOO_LARGE"');
  });
});

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';

const head = (type = 'application/x-ndjson', sender = token): string =>
  `POST /api/Case/import HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${sender}\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`;
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const rows = (name: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `{"title":"${name} ${index}"}\n`).join('');
/** Counts the cases whose title begins with this name. */
const stored = async (name: string, at = target): Promise<number> =>
  Number((await at.as('admin', 'GET', `/api/Case?where[title][startsWith]=${name}&total=true&limit=1`)).at('total'));

describe('a client', () => {
  it('stores whole rows of a client that disconnects in the middle, each with its entry', async () => {
    const [before] = await target.decisions('limit=1');
    const until = async (): Promise<void> => {
      while ((await stored('gone')) === 0);
    };
    await sendTexts(target, [head(), chunk(rows('gone', 1700)), chunk('{"title":"gone half')], { until });
    let [count, entries] = [0, -1];
    // Rows that arrived before the client disconnected may still be stored: compares when none was stored while the entries were read.
    do {
      count = await stored('gone');
      entries = await countImports(String(before?.['id']));
    } while (count !== (await stored('gone')));
    expect(count).toBeLessThanOrEqual(1700);
    expect(entries).toBe(count);
  });

  /** Counts the entries of imported rows after an entry. */
  async function countImports(after: string): Promise<number> {
    let count = 0;
    for (let cursor = ''; ; ) {
      const page = await target.as('admin', 'GET', `/admin/api/decisions?action=import&allowed=true&limit=1000${cursor}`);
      count += (page.at('data') as { id: string }[]).filter(({ id }) => id > after).length;
      if (page.at('nextCursor') === undefined) return count;
      cursor = `&cursor=${String(page.at('nextCursor'))}`;
    }
  }

  it('answers the next request of a client that keeps sending a refused file', async () => {
    const wrong = [head('text/csv'), chunk('title\n"a"b\n')];
    const answer = await sendTexts(target, [...wrong, chunk('more'.repeat(300_000)), `0\r\n\r\n${HEALTH}`], { answers: 2, pause: 200 });
    expect(answer).toMatch(/HTTP\/1\.1 400.*HTTP\/1\.1 200/s);
  });

  it('answers another request after a file that was read in part', async () => {
    const body = `{"title":1}\n${rows('rest', 60_000)}`;
    const part = `${head()}${chunk(body)}0\r\n\r\n`;
    const answer = await sendTexts(target, [part, HEALTH], { answers: 2 });
    expect(answer).toMatch(/HTTP\/1\.1 422.*HTTP\/1\.1 200/s);
  });

  it('answers another request after a file that was refused unread', async () => {
    const body = 'x'.repeat(300_000);
    const refused = `POST /api/Case/import HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const answer = await sendTexts(target, [refused, HEALTH], { answers: 2 });
    expect(answer).toMatch(/HTTP\/1\.1 403.*HTTP\/1\.1 200/s);
  });
});

describe('a slow client', () => {
  // A second is short for the requests of other tests on a busy machine.
  let impatient: AttackTarget;
  let sender: string;
  beforeAll(async () => {
    impatient = await startAttackTarget({ requestTimeoutSeconds: 1 });
    sender = await impatient.logIn(impatient.emails.eve, impatient.passwords);
  });
  afterAll(() => impatient.close());
  const begin = (): string => head('application/x-ndjson', sender);

  it.concurrent('answers a client that stops sending with 408, and keeps the rows before', async () => {
    const answer = await sendTexts(impatient, [begin(), chunk(rows('still', 3)), chunk('{"title":"half')]);
    expect(answer).toContain('HTTP/1.1 408');
    expect(answer).toContain('"imported":3');
    expect(await stored('still', impatient)).toBe(3);
  });

  it.concurrent('gives a client that sends slowly more time than for other requests', async () => {
    const slow = Array.from({ length: 14 }, (_, index) => chunk(rows(`slow${index}`, 1)));
    const answer = await sendTexts(impatient, [begin(), ...slow, '0\r\n\r\n'], { pause: 250 });
    expect(answer).toContain('HTTP/1.1 200');
    expect(await stored('slow', impatient)).toBe(14);
  });

  it.concurrent('answers a slow file after a refused one on the same connection', async () => {
    const line = rows('refused', 1);
    const refused = begin().replace('/import', '/import?mode=none').replace('Transfer-Encoding: chunked', `Content-Length: ${line.length}`);
    // Takes longer than the five seconds in which the rest of a refused file is discarded.
    const slow = Array.from({ length: 9 }, (_, index) => chunk(rows(`again${index}`, 1)));
    const answer = await sendTexts(impatient, [refused + line, begin(), ...slow, '0\r\n\r\n'], { answers: 2, pause: 550 });
    expect(answer).toMatch(/HTTP\/1\.1 400.*HTTP\/1\.1 200/s);
  });

  it('does not time out a client that sends in time because this process was blocked', async () => {
    const afterBlocking = async (): Promise<string> => {
      // From here, the event loop runs its timers before it reads the bytes that have arrived.
      await new Promise((resolve) => setImmediate(resolve));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1250);
      return chunk(rows('held up', 1));
    };
    const answer = await sendTexts(impatient, [begin(), chunk(rows('held', 1)), afterBlocking, '0\r\n\r\n'], { pause: 300 });
    expect(answer).toContain('HTTP/1.1 200');
    expect(await stored('held', impatient)).toBe(2);
  });
});

interface SendOptions {
  /** Milliseconds to wait after each text. */
  readonly pause?: number;
  /** Number of responses to wait for. */
  readonly answers?: number;
  /** The connection is closed when this resolves. */
  readonly until?: () => Promise<void>;
}

/** Writes texts to a connection; returns the bytes received until enough responses have arrived or the connection has ended. */
function sendTexts(
  { url }: AttackTarget,
  texts: readonly (string | (() => Promise<string>))[],
  { pause = 0, answers = 1, until }: SendOptions = {},
): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(Number(port), hostname);
    void until?.().then(() => socket.destroy());
    socket.on('data', (data) => {
      received += data;
      if (received.split('"success"').length > answers) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(received));
    void (async () => {
      for (const text of texts) {
        socket.write(typeof text === 'string' ? text : await text());
        await new Promise((done) => setTimeout(done, pause));
      }
    })();
  });
}
