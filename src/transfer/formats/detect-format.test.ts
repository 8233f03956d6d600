import { describe, expect, it } from 'vitest';
import { decodeText, detectFormat } from './detect-format.ts';
import { inPieces } from './transfer.fixture.ts';

describe('the beginning of a body', () => {
  it.each([
    [' \n\t[{"a":1}]', '['],
    ['\ufeff {"data":[]}', '{'],
    ['', ''],
    ['  ', ''],
  ])('of %j', async (body, first) => {
    const bytes = new TextEncoder().encode(body);
    const peeked = await detectFormat(inPieces(bytes, 2));
    expect(peeked.first).toBe(first);
    const all: number[] = [];
    for await (const chunk of peeked.bytes) all.push(...chunk);
    expect(all).toEqual([...bytes]);
  });

  it('is not looked for without end', async () => {
    await expect(detectFormat(inPieces(new Uint8Array(100_000).fill(0x20), 1000))).rejects.toThrow('nothing but white space');
  });
});

describe('bytes in another encoding', () => {
  it('are refused with what to do about it', async () => {
    const latin = new Uint8Array([0x43, 0x61, 0x66, 0xe9, 0x0a]);
    const reading = (async () => {
      for await (const text of decodeText(inPieces(latin, 2))) expect(text).not.toBe('');
    })();
    await expect(reading).rejects.toMatchObject({
      code: 'REQUEST_MALFORMED',
      extras: { hint: 'save it as UTF-8; spreadsheets call that "CSV UTF-8"' },
    });
  });
});
