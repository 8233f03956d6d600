import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type PasswordStreams, readPassword } from './password-prompt.ts';

/** Streams like those of a process, with the text that was written to them. */
function createStreams(isTTY: boolean): { streams: PasswordStreams; input: PassThrough; shown(): string } {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const streams = { input: Object.assign(input, { isTTY }) as unknown as PasswordStreams['input'], output };
  return { streams, input, shown: () => String(output.read() ?? '') };
}

const typed = (input: PassThrough, text: string): Promise<void> =>
  new Promise((resolve) => setImmediate(() => input.write(text, () => setImmediate(resolve))));

describe('a password from a pipe', () => {
  it.each([
    ['a line', 'open sesame now\n', 'open sesame now'],
    ['without its end', 'open sesame now', 'open sesame now'],
    ['of Windows', 'open sesame now\r\nmore\r\n', 'open sesame now'],
    ['with blanks that belong to it', '  open sesame \n', '  open sesame '],
  ])('reads the password from the first line of a pipe: %s', async (_, text, password) => {
    const { streams, input } = createStreams(false);
    input.end(text);
    expect(await readPassword(streams)).toBe(password);
  });

  it('reads a password whose characters arrive in parts', async () => {
    const { streams, input } = createStreams(false);
    const read = readPassword(streams);
    for (const byte of Buffer.from('pässwörter 🔑\n')) {
      input.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await read).toBe('pässwörter 🔑');
  });

  it.each([
    ['in the middle', [0x61, 0xff, 0x62, 0x0a]],
    ['at the end', [0x61, 0xc3]],
    ['before the end of the line', [0x61, 0xc3, 0x0a]],
  ])('refuses bytes that are not UTF-8 %s', async (_, bytes) => {
    const { streams, input } = createStreams(false);
    input.end(Buffer.from(bytes));
    await expect(readPassword(streams)).rejects.toThrow('expected a password in UTF-8');
  });

  it.each(['', '\n'])('finds no password in %j', async (text) => {
    const { streams, input } = createStreams(false);
    input.end(text);
    await expect(readPassword(streams)).rejects.toThrow(/none/);
  });
});

describe('a password from a terminal', () => {
  it('reads the password twice from a terminal and does not show it', async () => {
    const { streams, input, shown } = createStreams(true);
    const read = readPassword(streams);
    await typed(input, 'open sesamf\u007fe now\r');
    await typed(input, 'open sesame now\r');
    expect(await read).toBe('open sesame now');
    expect(shown()).toBe('new password: \nrepeat password: \n');
  });

  it('reads both passwords from lines that are pasted together', async () => {
    const { streams, input, shown } = createStreams(true);
    const read = readPassword(streams);
    await typed(input, 'open sesame now\ropen sesame now\r');
    expect(await read).toBe('open sesame now');
    expect(shown()).toBe('new password: \nrepeat password: \n');
  });

  it.each([
    ['the passwords differ', ['open sesame now\r', 'open sesame then\r'], /not match/],
    ['it is interrupted', ['open\u0003'], /no password/],
    ['the terminal closes', ['\u0004'], /no password/],
    ['it is empty', ['\r', '\r'], /given none/],
  ])('refuses a password from a terminal if %s', async (_, lines, words) => {
    const { streams, input } = createStreams(true);
    const read = readPassword(streams);
    const refused = expect(read).rejects.toThrow(words);
    for (const line of lines) await typed(input, line);
    await refused;
  });
});
