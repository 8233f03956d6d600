/** The steps of a Markdown page, and a shell that performs them: for tests that compare what commands print with what the page shows. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';

/** A block of a page. */
interface Block {
  readonly language: string;
  readonly text: string;
}

/** A command of a page or a file to write, with the output that the page shows. */
export type Step = { readonly shown: Block | undefined } & (
  | { readonly command: string }
  | { readonly file: string; readonly text: string; readonly isAddition: boolean }
);

/**
 * Returns the steps of a page: each block of `sh` is a command. A block of YAML or TypeScript whose first line is a comment with a path is a
 * file, or with "add to" an addition to its end. The block of `json` or `text` after a step is its output.
 */
export function readSteps(markdown: string): readonly Step[] {
  const blocks = [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({ language, text }));
  return blocks.flatMap(({ language, text }, index): Step[] => {
    const next = blocks[index + 1];
    const shown = ['json', 'text'].includes(next?.language ?? '') ? next : undefined;
    if (language === 'sh') return [{ command: text, shown }];
    const [heading = '', addition, file = ''] = /^(?:#|\/\/) (add to )?([\w./-]+\.\w+)\n/.exec(text) ?? [];
    if (!['yaml', 'ts'].includes(language) || file === '') return [];
    return [{ file, text: text.slice(heading.length), isAddition: addition !== undefined, shown }];
  });
}

/** A shell that keeps its variables and functions from one command to the next. */
export interface Shell {
  /** Returns the output of a command. Throws if the command fails. */
  run(command: string): Promise<string>;
  close(): Promise<void>;
}

/** Starts a shell in which every command must succeed. */
export function openShell(environment: Readonly<Record<string, string | undefined>>, folder?: string): Shell {
  const shell = spawn('sh', ['-eu'], { env: environment, cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(shell, 'close');
  const end = '----8<----';
  let printed = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk));
  return {
    run: (command) =>
      new Promise((resolve, reject) => {
        const from = printed.length;
        const finish = (): void => {
          const output = printed.slice(from);
          if (!output.endsWith(`${end}\n`) && shell.exitCode === null) return;
          shell.stdout.off('data', finish);
          shell.off('close', finish);
          if (output.endsWith(`${end}\n`)) resolve(output.slice(0, -`\n${end}\n`.length));
          else reject(new Error(`the command failed:\n${command}\n${output}`));
        };
        shell.stdout.on('data', finish);
        shell.on('close', finish);
        shell.stdin.write(`{\n${command}\n} < /dev/null\nprintf '\\n%s\\n' '${end}'\n`);
      }),
    async close() {
      shell.stdin.end();
      await ended;
    },
  };
}

/** Expects the output that a page shows: JSON of which the actual one may have more members, or text. "…" matches any characters. */
export function expectShown(output: string, shown: Block): void {
  if (shown.language === 'json') expectMembers(JSON.parse(output), JSON.parse(shown.text), '');
  else expect(output.trim()).toMatch(toPattern(shown.text.trim()));
}

/** Converts a text in which `…` stands for any characters. */
export function toPattern(shown: string): RegExp {
  const parts = shown.split('…').map((part) => part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  return new RegExp(`^${parts.join('[\\s\\S]*')}$`);
}

function expectMembers(actual: unknown, shown: unknown, path: string): void {
  if (typeof shown === 'string' && shown.includes('…')) {
    expect(typeof actual, path).toBe('string');
    expect(actual, path).toMatch(toPattern(shown));
  } else if (typeof shown === 'object' && shown !== null) {
    expect(typeof actual, path).toBe('object');
    if (Array.isArray(shown)) expect(actual, path).toHaveLength(shown.length);
    for (const [key, value] of Object.entries(shown)) expectMembers((actual as Record<string, unknown>)[key], value, `${path}.${key}`);
  } else {
    expect(actual, path).toBe(shown);
  }
}
