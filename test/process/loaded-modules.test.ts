import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Prints the modules that the process has loaded when it ends, below the output of the command. */
const HOOK = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  process.on('exit', () => process.stdout.write(loaded.join('\\n')));
`)}`;

/** Returns the paths below `src/` of the modules that a command loads. */
function loadedBy(...args: readonly string[]): readonly string[] {
  const printed = execFileSync(process.execPath, ['--import', HOOK, PROGRAM, ...args], { encoding: 'utf8' });
  return [...printed.matchAll(/^file:.*\/src\/(.*\.ts)$/gm)].map(([, path = '']) => path);
}

it.each(['storage plan', 'backup', 'restore', 'decisions verify', 'user create', 'user password', 'user promote', 'start'])(
  'the help of "%s" loads only modules of the CLI',
  (command) => {
    const loaded = loadedBy(...command.split(' '), '--help');
    expect(loaded).toContain('main.ts');
    expect(loaded.filter((path) => !/^(main|errors|package-folder)\.ts$|^(cli|config)\//.test(path))).toEqual([]);
  },
);
