/** Reads passwords for commands: from a terminal without echo, or from a pipe; never from the command line, which other users can read. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { SetupError } from '../errors.ts';

/** Maximum number of characters read from a pipe. */
const LONGEST = 1000;

/** The streams for reading a password and for the prompt. */
export interface PasswordStreams {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WritableStream;
}

/**
 * Reads a new password: twice from a terminal, else the first line of the input.
 *
 * @throws SetupError where there is none, or the two differ.
 */
export async function readPassword({ input, output }: PasswordStreams): Promise<string> {
  if (!input.isTTY) return readLine(input);
  const first = await ask('new password: ', { input, output });
  const second = await ask('the same again: ', { input, output });
  if (first === second) return checkGiven(first);
  throw new SetupError('the two passwords differ; nothing was changed');
}

async function readLine(input: AsyncIterable<Buffer | string>): Promise<string> {
  let text = '';
  for await (const piece of input) {
    text += piece.toString();
    if (text.includes('\n') || text.length > LONGEST) break;
  }
  const [line = ''] = text.split(/\r?\n/, 1);
  return checkGiven(line);
}

/** Line editing needs an output; this one discards everything, so the typed text is not shown. */
async function ask(question: string, { input, output }: PasswordStreams): Promise<string> {
  const nowhere = new Writable({ write: (_piece, _encoding, done) => done() });
  const terminal = createInterface({ input, output: nowhere, terminal: true });
  const given = new AbortController();
  terminal.on('SIGINT', () => given.abort());
  terminal.on('close', () => given.abort());
  output.write(question);
  try {
    return await terminal.question('', { signal: given.signal });
  } catch {
    throw new SetupError('no password was given; nothing was changed');
  } finally {
    output.write('\n');
    terminal.close();
  }
}

function checkGiven(password: string): string {
  if (password !== '') return password;
  throw new SetupError('expected a password from the terminal or on standard input, given none');
}
