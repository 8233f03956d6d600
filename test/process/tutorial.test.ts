/** The tutorial, and the page about moving data from another system: their files and commands work, in their order. */
import { execFile } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { expectShown, openShell, readSteps, type Shell, type Step } from '../scenarios/walkthrough.ts';
import { bundleProgram } from './bundle.ts';
import { CHECKOUT, type Program, startProgram } from './program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = readdirSync(join(root, 'docs/tutorial')).filter((name) => /^\d/.test(name));
const stepsOf = (page: string): readonly Step[] => readSteps(readFileSync(join(root, 'docs', page), 'utf8'));
const parent = mkdtempSync(join(tmpdir(), 'bailiwick-tutorial-'));
const project = join(parent, 'tracker');
/** The address in the tutorial. The test uses a free port. */
const ADDRESS = 'http://127.0.0.1:8787';

let shell: Shell | undefined;
let program: Program | undefined;
afterAll(async () => {
  await shell?.close();
  await program?.stop();
  rmSync(parent, { recursive: true });
});

/** Writes the commands `npx`, `npm` and `bailiwick`, which run this checkout and install nothing. */
async function writeCommands(): Promise<string> {
  const folder = join(parent, 'commands');
  mkdirSync(folder);
  const scripts = {
    // The templates are in the checkout, not in the bundle.
    bailiwick: `main=${await bundleProgram()}; if [ "$1" = init ]; then main=${CHECKOUT}; fi; exec node "$main" "$@"`,
    npx: 'exec "$@"',
    npm: `[ "$*" = install ] && mkdir node_modules && ln -s ${join(parent, 'package')} node_modules/bailiwick`,
  };
  for (const [name, text] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** Writes a package with the client of the checkout, of which Node.js loads the sources. */
function writePackage(): void {
  const folder = join(parent, 'package');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', exports: { './client': './client/index.ts' } }));
  symlinkSync(join(root, 'client'), join(folder, 'client'));
}

/** Performs a step in the folder of a project. What a page shows after a file, or after a start, is printed by the running program. */
async function perform(step: Step, folder = project): Promise<void> {
  const text = step.shown?.text.trim();
  if ('file' in step) {
    const write = step.isAddition ? appendFileSync : writeFileSync;
    write(join(folder, step.file), withAddress(step.text));
    if (text !== undefined) await program?.prints(text);
  } else if (/^npm (?:run dev|start)\n$/.test(step.command)) {
    await program?.stop();
    program = await startProgram({ project, data: join(project, 'data'), command: step.command === 'npm start\n' ? 'start' : 'dev' });
    await shell?.run(`URL=${program.url}`);
    if (text !== undefined) await program.prints(text);
  } else {
    // A test of policies that is shown to fail has the exit code 1.
    const fails = /, [1-9]\d* failed/.test(text ?? '');
    const output = await shell?.run(withAddress(fails ? `${step.command.trim()} || [ $? -eq 1 ]` : step.command));
    if (step.shown !== undefined) expectShown(String(output), step.shown);
  }
}

const withAddress = (text: string): string => (program === undefined ? text : text.replaceAll(ADDRESS, program.url));

describe('the tutorial', () => {
  const it = createChain();

  it('the tutorial begins in an empty folder', async () => {
    writePackage();
    const path = [await writeCommands(), dirname(process.execPath), process.env['PATH']].join(':');
    shell = openShell({ PATH: path, HOME: parent, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }, parent);
    expect(pages.length).toBeGreaterThan(3);
  });

  for (const page of pages) {
    for (const [index, step] of stepsOf(`tutorial/${page}`).entries()) {
      const name = 'file' in step ? step.file : step.command.trim().split('\n').at(-1);
      it(`the tutorial does and prints what step ${index + 1} of ${page} shows: ${name}`, () => perform(step));
    }
  }

  it('the program of the tutorial has no mistake in its types', async () => {
    const options = {
      strict: true,
      module: 'nodenext',
      target: 'es2024',
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
    };
    const compilerOptions = { ...options, types: ['node'], typeRoots: [join(root, 'node_modules/@types')] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['report.ts'] }));
    await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project]);
  });

  it('the page about moving data has commands that move users, and posts with their authors', async () => {
    const team = join(parent, 'team');
    for (const folder of ['resources', 'policies']) mkdirSync(join(team, folder), { recursive: true });
    const steps = stepsOf('coming-from/README.md');
    for (const step of steps.filter((each) => 'file' in each)) await perform(step, team);
    await shell?.run(`cd ${team}
      echo 'correct horse battery' | npx bailiwick user create ada@example.com --role admin
      echo '{"name":"News"}' | npx bailiwick import Team - --format ndjson --as ada@example.com
      npx bailiwick export Team teams.ndjson --as ada@example.com
      TEAM=$(get id < teams.ndjson)`);
    for (const step of steps.filter((each) => !('file' in each))) await perform(step);
    const moved = await shell?.run('npx bailiwick export Post - --format ndjson --as ada@example.com; cat ids.ndjson');
    const [post, ...users] = String(moved)
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
    expect(post).toMatchObject({ formerId: 'p1', authorId: users.find(({ formerId }) => formerId === 'u1').id });
  });
});
