import { describe, expect, it } from 'vitest';
import { STEP_LENGTH } from '../../json-steps.ts';
import { inChunks, resource } from './formats.fixture.ts';
import { decodeText, detectFormat, readRows } from './read-rows.ts';

describe('detectFormat', () => {
  it.each([
    [' \n\t[{"a":1}]', '['],
    ['\ufeff {"data":[]}', '{'],
    ['', ''],
    ['  ', ''],
  ])('returns the first character and the whole body of %j', async (body, first) => {
    const bytes = new TextEncoder().encode(body);
    const detected = await detectFormat(inChunks(bytes, 2));
    expect(detected.first).toBe(first);
    const all: number[] = [];
    for await (const chunk of detected.bytes) all.push(...chunk);
    expect(all).toEqual([...bytes]);
  });

  it('refuses a body that begins with too much white space', async () => {
    await expect(detectFormat(inChunks(new Uint8Array(100_000).fill(0x20), 1000))).rejects.toMatchObject({
      code: 'REQUEST_MALFORMED',
      detail: expect.stringMatching(/white space/),
    });
  });
});

describe('decodeText', () => {
  it('refuses bytes that are not UTF-8, with a hint', async () => {
    const latin = new Uint8Array([0x43, 0x61, 0x66, 0xe9, 0x0a]);
    const reading = (async () => {
      for await (const text of decodeText(inChunks(latin, 2))) expect(text).not.toBe('');
    })();
    await expect(reading).rejects.toMatchObject({
      code: 'REQUEST_MALFORMED',
      extras: { hint: 'save the file as UTF-8; spreadsheets call this format "CSV UTF-8"' },
    });
  });
});

/** Reads a file that has arrived already, and counts the turns that other requests get meanwhile. */
async function countTurns(format: 'ndjson' | 'csv' | 'json', body: string): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const options = { format, resource, rowLength: 1_000_000, depth: 8, delimiter: ',', guardFormulas: true };
  for await (const { problem } of readRows(inChunks(Buffer.from(body), 1_000_000), options)) expect(problem).toBeUndefined();
  isOver = true;
  return turns;
}

const STEPS = 8;
const LONG_JSON = `[${'0,'.repeat((STEPS * STEP_LENGTH) / 2)}0]`;

describe('other requests', () => {
  it.each([
    ['ndjson', '\n'.repeat(100_000)],
    ['csv', `title${'\n'.repeat(100_000)}`],
    ['json', `[${' '.repeat(100_000)}]`],
  ] as const)('continue after each part of a file of many empty rows: %s', async (format, body) => {
    expect(await countTurns(format, body)).toBeGreaterThanOrEqual(12);
  });

  it.each([
    ['ndjson', `{"extra":${LONG_JSON}}`],
    ['csv', `title,extra\na,"${LONG_JSON}"\n`],
    ['json', `[{"extra":${LONG_JSON}}]`],
  ] as const)('continue after each step of a long row: %s', async (format, body) => {
    // One turn for each 8 KiB of the file, and those of the steps.
    expect(await countTurns(format, body)).toBeGreaterThanOrEqual(body.length / 8192 + STEPS - 1);
  });
});
