/** Builds, packs and installs the package as npm would publish it, without a network. */
import { exec, execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
// Uses a shell, because npm is a script on Windows.
const runLine = promisify(exec);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** The files from which the package is built and packed. */
const STAGED = [
  'LICENSE',
  'README.md',
  'client',
  'console',
  // The manifests of workspaces, which the lock file names.
  'examples/typescript-client/package.json',
  'package-lock.json',
  'package.json',
  'rolldown.config.ts',
  'rolldown.types.ts',
  'scripts',
  'site/package.json',
  'src',
  'test/package.json',
  'tsconfig.build.json',
  'tsconfig.client.json',
  'tsconfig.json',
];

/** The installed package. */
export interface Installed {
  /** Folder of the package. */
  readonly folder: string;
  /** Path of the command. */
  readonly main: string;
  /** Packed files, as paths within the package. */
  readonly files: readonly string[];
}

/** Builds the package and installs it below `project`, with its dependencies and without its development dependencies. */
export async function installPackage(project: string): Promise<Installed> {
  const modules = join(project, 'node_modules');
  const folder = join(modules, 'bailiwick');
  mkdirSync(folder, { recursive: true });
  const stage = stagePackage(project);
  // Skips the pre-scripts, which would reinstall node_modules during the test run.
  await runLine('npm run build --ignore-scripts', { cwd: stage });
  const { stdout } = await runLine('npm pack --ignore-scripts --offline --json', { cwd: stage });
  const [packed] = JSON.parse(stdout) as readonly { readonly filename: string; readonly files: readonly { readonly path: string }[] }[];
  if (packed === undefined) throw new Error(`expected npm to pack the package, given ${stdout}`);
  await run('tar', ['-xzf', packed.filename, '-C', folder, '--strip-components=1'], { cwd: stage });
  for (const name of Object.keys(readManifest(folder).dependencies)) link(modules, name);
  return { folder, main: join(folder, 'bin/bailiwick.js'), files: packed.files.map(({ path }) => path) };
}

/** Copies the sources, because concurrent builds in the checkout would empty each other's `dist/`. */
function stagePackage(project: string): string {
  const stage = join(project, 'stage');
  const listed = readManifest(root).files.filter((name) => name !== 'dist' && !name.startsWith('!'));
  for (const name of [...STAGED, ...listed]) cpSync(join(root, name), join(stage, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(stage, 'node_modules'), 'junction');
  // The build keeps a console that was built from the same sources.
  const console = join('dist', 'console');
  if (existsSync(join(root, console))) cpSync(join(root, console), join(stage, console), { recursive: true });
  return stage;
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** Links a package of the checkout into the project. Its own dependencies resolve from its real path. */
export function link(modules: string, name: string): void {
  const at = join(modules, name);
  mkdirSync(dirname(at), { recursive: true });
  symlinkSync(join(root, 'node_modules', name), at, 'junction');
}
