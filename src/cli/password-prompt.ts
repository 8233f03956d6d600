/** Reads passwords from a terminal, without echo, or from a pipe. A password is never an argument, because other users can read command lines. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { SetupError } from '../errors.ts';

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
  const first = await prompt('new password: ', { input, output });
  const second = await prompt('repeat password: ', { input, output });
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

async function prompt(text: string, { input, output }: PasswordStreams): Promise<string> {
  // Line editing needs an output; this one discards everything, so the password is not shown.
  const discarded = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input, output: discarded, terminal: true });
  const closed = new AbortController();
  terminal.on('SIGINT', () => closed.abort());
  terminal.on('close', () => closed.abort());
  output.write(text);
  try {
    return await terminal.question('', { signal: closed.signal });
  } catch {
    throw new SetupError('no password was given; nothing was changed');
  } finally {
    output.write('\n');
    terminal.close();
  }
}

function requirePassword(password: string): string {
  if (password !== '') return password;
  throw new SetupError('expected a password from the terminal or on standard input, given none');
}
