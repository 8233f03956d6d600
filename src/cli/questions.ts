import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { SetupError } from '../errors.ts';

/** The terminal on which questions are asked, and the message of the error after Ctrl-C or Ctrl-D. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly interrupted: string;
}

/** Functions that ask a question on a terminal. They throw SetupError after Ctrl-C or Ctrl-D. */
export interface Questions {
  /** Asks a question and returns the line that is typed, without spaces around it. */
  ask(question: string): Promise<string>;
  /** Asks for a line that the terminal does not show, and returns it unchanged. */
  askHidden(question: string): Promise<string>;
}

/**
 * Asks several questions on a terminal. One reader reads all answers, because they can be pasted together: a line that arrives before its
 * question is kept, and shown with the question, unless that hides it.
 */
export async function askQuestions<T>(terminal: Terminal, run: (questions: Questions) => Promise<T>): Promise<T> {
  const { input, output, interrupted } = terminal;
  const echo = new Echo(output);
  // With a history, the arrow keys would show a password.
  const reader = createInterface({ input, output: echo, terminal: true, historySize: 0 });
  const lines: string[] = [];
  const closed = new AbortController();
  reader.on('line', (line) => {
    echo.isOn = false;
    lines.push(line);
  });
  reader.on('close', () => closed.abort());
  const ask = async (question: string, isHidden: boolean): Promise<string> => {
    const early = lines.shift();
    if (early !== undefined) {
      output.write(`${question}${isHidden ? '' : early}\n`);
      return early;
    }
    if (closed.signal.aborted) throw new SetupError(interrupted);
    const line = once(reader, 'line', { signal: closed.signal });
    echo.isOn = !isHidden;
    if (isHidden) output.write(question);
    reader.setPrompt(isHidden ? '' : question);
    // Keeps the characters of this line that have arrived already.
    reader.prompt(true);
    try {
      await line;
    } catch {
      output.write('\n');
      throw new SetupError(interrupted);
    }
    if (isHidden) output.write('\n');
    return lines.shift() ?? '';
  };
  try {
    return await run({ ask: async (question) => (await ask(question, false)).trim(), askHidden: (question) => ask(question, true) });
  } finally {
    reader.close();
  }
}

/** The output of line editing, which shows nothing until a question is asked. */
class Echo extends Writable {
  isOn = false;
  readonly #output: NodeJS.WritableStream;

  constructor(output: NodeJS.WritableStream) {
    super();
    this.#output = output;
  }

  /** The width at which a long line is wrapped. */
  get columns(): number | undefined {
    return (this.#output as Partial<NodeJS.WriteStream>).columns;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    if (this.isOn) this.#output.write(chunk);
    done();
  }
}
