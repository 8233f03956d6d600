import { createInterface } from 'node:readline/promises';
import { SetupError } from '../errors.ts';

/** The terminal on which questions are asked. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Asks a question on the terminal and returns the line that is typed, without spaces around it. @throws SetupError after Ctrl-C or Ctrl-D */
export async function askQuestion(question: string, { input, output }: Terminal): Promise<string> {
  const terminal = createInterface({ input, output, terminal: true });
  const closed = new AbortController();
  terminal.on('SIGINT', () => closed.abort());
  terminal.on('close', () => closed.abort());
  try {
    return (await terminal.question(question, { signal: closed.signal })).trim();
  } catch {
    output.write('\n');
    throw new SetupError('the command was interrupted; nothing was created');
  } finally {
    terminal.close();
  }
}
