/** Reads passwords from a terminal, without echo, or from a pipe. A password is never an argument, because other users can read command lines. */
import { SetupError } from '../errors.ts';
import { askQuestions } from './questions.ts';

/** Maximum number of characters read from a pipe. */
const MAX_LENGTH = 1000;

/** The streams for reading a password and for the prompt. */
export interface PasswordStreams {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WritableStream;
}

/**
 * Reads a new password: twice from a terminal, else the first line of the input.
 *
 * @throws SetupError if no password is given, or the two passwords from the terminal differ.
 */
export async function readPassword({ input, output }: PasswordStreams): Promise<string> {
  if (!input.isTTY) return readLine(input);
  const terminal = { input, output, interrupted: 'no password was given; nothing was changed' };
  const [first, second] = await askQuestions(terminal, async ({ askHidden }) => [
    await askHidden('new password: '),
    await askHidden('repeat password: '),
  ]);
  if (first === second) return requirePassword(first);
  throw new SetupError('the passwords do not match; nothing was changed');
}

async function readLine(input: AsyncIterable<Buffer | string>): Promise<string> {
  // A chunk can end inside a character.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text = '';
  try {
    for await (const chunk of input) {
      const bytes = Buffer.from(chunk);
      const end = bytes.indexOf('\n');
      text += decoder.decode(end < 0 ? bytes : bytes.subarray(0, end + 1), { stream: true });
      if (end >= 0 || text.length > MAX_LENGTH) break;
    }
    if (text.length <= MAX_LENGTH) text += decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw new SetupError('expected a password in UTF-8, given other bytes; nothing was changed');
    throw error;
  }
  const [line = ''] = text.split(/\r?\n/, 1);
  return requirePassword(line);
}

function requirePassword(password: string): string {
  if (password !== '') return password;
  throw new SetupError('expected a password from the terminal or on standard input, given none');
}
