import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { askQuestions, type Questions } from './questions.ts';

/** Control sequences of line editing. */
const SEQUENCES = /\p{Cc}\[\d*[A-Z]/gu;
const INTERRUPTED = 'the command was interrupted';

/** Asks on a terminal on which this text is pasted, and returns the answers and the text that the terminal shows. */
async function paste(text: string, ask: (questions: Questions, type: (text: string) => void) => Promise<readonly string[]>) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const terminal = { input: input as unknown as NodeJS.ReadStream, output };
  const answers = askQuestions({ ...terminal, interrupted: INTERRUPTED }, async (questions) => {
    setImmediate(() => input.write(text));
    return ask(questions, (more) => input.write(more));
  });
  const settled = await Promise.allSettled([answers]);
  const shown = String(output.read() ?? '').replaceAll(SEQUENCES, '');
  return { settled: settled[0], shown };
}

it('answers questions with lines that are pasted together, and shows each below its question', async () => {
  const { settled, shown } = await paste('shop\r 3 \ry\r', async ({ ask }) => [
    await ask('folder: '),
    await ask('template: '),
    await ask('data: '),
  ]);
  expect(settled).toMatchObject({ value: ['shop', '3', 'y'] });
  expect(shown).toBe('folder: shop\r\ntemplate:  3 \ndata: y\n');
});

it('continues a line of which a part was pasted with the answer before it', async () => {
  const { settled, shown } = await paste('shop\rnews', async ({ ask }, type) => {
    const folder = await ask('folder: ');
    setImmediate(() => type('room\r'));
    return [folder, await ask('template: ')];
  });
  expect(settled).toMatchObject({ value: ['shop', 'newsroom'] });
  expect(shown).toBe('folder: shop\r\ntemplate: newsroom\r\n');
});

it('hides a password that is pasted with the answer before it', async () => {
  const { settled, shown } = await paste('ada@example.com\ropen sesame\rnext\r', async ({ ask, askHidden }) => [
    await ask('email: '),
    await askHidden('password: '),
    await ask('name: '),
  ]);
  expect(settled).toMatchObject({ value: ['ada@example.com', 'open sesame', 'next'] });
  expect(shown).toBe('email: ada@example.com\r\npassword: \nname: next\n');
});

it('recalls no password with the arrow keys', async () => {
  const { settled, shown } = await paste('open sesame\r\u001b[A\r', async ({ ask, askHidden }) => [
    await askHidden('password: '),
    await ask('name: '),
  ]);
  expect(settled).toMatchObject({ value: ['open sesame', ''] });
  expect(shown).toBe('password: \nname: \n');
});

it.each([
  ['Ctrl-C', 'shop\r\u0003'],
  ['Ctrl-D', 'shop\r\u0004'],
])('throws after %s, also if it follows an answer', async (_key, text) => {
  const { settled } = await paste(text, async ({ ask }) => [await ask('folder: '), await ask('template: ')]);
  expect(settled).toMatchObject({ reason: { message: INTERRUPTED } });
});
