/** The package as npm would publish it, built, packed and installed into a folder of its own. Nothing is asked of a network. */
import { exec, execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
// By a shell: on Windows, npm is a script.
const runLine = promisify(exec);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** What npm packs besides what `package.json` lists, and what `dist/` is made of. */
const STAGED = ['LICENSE', 'README.md', 'package.json', 'rolldown.config.ts', 'src', 'tsconfig.build.json', 'tsconfig.json'];

/** Where it was installed. */
export interface Installed {
  /** The package itself. */
  readonly folder: string;
  /** What its users start. */
  readonly main: string;
  /** The files that were packed; paths within the package. */
  readonly files: readonly string[];
}

/** Builds the package and installs it below `project`. It finds there what it depends on, and nothing that only we develop with. */
export async function installPackage(project: string): Promise<Installed> {
  const modules = join(project, 'node_modules');
  const folder = join(modules, 'bailiwick');
  mkdirSync(folder, { recursive: true });
  const stage = stagePackage(project);
  // Not what npm runs before it, which sets the checkout up: whoever runs this has done so, and nothing may replace node_modules now.
  await runLine('npm run build --ignore-scripts', { cwd: stage });
  const { stdout } = await runLine('npm pack --ignore-scripts --offline --json', { cwd: stage });
  const [packed] = JSON.parse(stdout) as readonly { readonly filename: string; readonly files: readonly { readonly path: string }[] }[];
  if (packed === undefined) throw new Error(`expected npm to pack the package, given ${stdout}`);
  await run('tar', ['-xzf', packed.filename, '-C', folder, '--strip-components=1'], { cwd: stage });
  for (const name of Object.keys(readManifest(folder).dependencies)) link(modules, name);
  return { folder, main: join(folder, 'bin/bailiwick.js'), files: packed.files.map(({ path }) => path) };
}

/** A copy of what the package is made of: two that build at once would empty each other's `dist/` in the checkout. */
function stagePackage(project: string): string {
  const stage = join(project, 'stage');
  const listed = readManifest(root).files.filter((name) => name !== 'dist');
  for (const name of [...STAGED, ...listed]) cpSync(join(root, name), join(stage, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(stage, 'node_modules'), 'junction');
  return stage;
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** Lets a project find a package of the checkout, which finds its own dependencies from where it really is. */
export function link(modules: string, name: string): void {
  const at = join(modules, name);
  mkdirSync(dirname(at), { recursive: true });
  symlinkSync(join(root, 'node_modules', name), at, 'junction');
}
