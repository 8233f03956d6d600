import { describe, expect, it } from 'vitest';
import { inChunks } from './formats.fixture.ts';
import { decodeText, detectFormat } from './read-rows.ts';

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
