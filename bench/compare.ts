import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bailiwick, bailiwickOf, bailiwickOnPostgres, bailiwickOnPostgresOf } from './http/bailiwick.ts';
import type { CaseName } from './http/contestant.ts';
import { measureWorld } from './http/measure.ts';
import type { Figure, OnFigure } from './measurement.ts';
import { type Options, pick } from './options.ts';
import { compareContestants } from './regressions.ts';
import { show } from './show.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CASES: readonly CaseName[] = ['read by id', 'list of 20', 'create', 'update', 'batch of 50'];
/** Share of the processor time of a request that may be lost. Both programs take turns, so that other load affects both. */
const ALLOWED = 0.1;

/**
 * Measures this checkout and the program of the commit `against` in turns, and prints the ratio of the processor time of their requests.
 * Returns false if a case has lost more than is allowed. Stored results are not read: they are those of another machine or moment. The
 * earlier program runs with the installed dependencies of this checkout.
 */
export async function runCompare(options: Options, onFigure: OnFigure): Promise<boolean> {
  const hash = findCommit(options.against);
  if (hash === undefined) {
    process.stderr.write(`expected a commit for --against, given "${options.against}"\n`);
    return false;
  }
  const checkout = mkdtempSync(join(tmpdir(), 'bailiwick-before-'));
  try {
    prepareCheckout(checkout, hash);
    const figures: Figure[] = [];
    const former = `at ${options.against}`;
    await measureWorld({
      measurement: 'compare',
      contestants: [bailiwick, bailiwickOf(checkout, former), bailiwickOnPostgres, bailiwickOnPostgresOf(checkout, former)],
      names: pick(options, CASES),
      records: options.records,
      options,
      onFigure: (figure) => {
        figures.push(figure);
        onFigure(figure);
      },
    });
    const compared = compareContestants(figures);
    for (const [name, ratio] of compared) process.stdout.write(`${name}: ${show(ratio)}${isLost(ratio) ? '  WORSE' : ''}\n`);
    return !compared.some(([, ratio]) => isLost(ratio));
  } finally {
    rmSync(checkout, { recursive: true, force: true });
  }
}

function isLost(ratio: number): boolean {
  return !(ratio >= 1 - ALLOWED);
}

/** Returns the hash of a commit; undefined if git does not know it. */
function findCommit(name: string): string | undefined {
  const { status, stdout } = spawnSync('git', ['rev-parse', '--verify', '--end-of-options', `${name}^{commit}`], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : undefined;
}

/** Clones the repository at a commit into an empty folder, and builds its program. */
function prepareCheckout(folder: string, hash: string): void {
  const run = (command: string, args: readonly string[]): void => void execFileSync(command, args, { cwd: folder });
  run('git', ['clone', '--quiet', '--no-checkout', ROOT, '.']);
  run('git', ['checkout', '--quiet', '--detach', hash]);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  run(process.execPath, ['scripts/build-program.mjs']);
}
