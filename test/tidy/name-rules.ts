import { basename } from 'node:path/posix';
import type { Rule } from './rule.ts';
import type { Source } from './source.ts';

/** Rules that keep names unique, so that a search has one result. */
export const nameRules: readonly Rule[] = [
  {
    name: 'base-name',
    check(source, report, { sources }) {
      if (isExempt(source)) return;
      const others = sources.filter(
        (other) =>
          other !== source && !isExempt(other) && basename(other.path) === basename(source.path) && twinPath(other) !== twinPath(source),
      );
      if (others.length > 0) report(0, `${pathsOf(others)} has the same base name: name each file after its own subject`);
    },
  },
];

function isExempt({ path, isTest }: Source): boolean {
  return isTest || basename(path) === 'index.ts';
}

/** Returns the same path for files that implement one interface for each database. */
function twinPath({ path }: Source): string {
  return path.replace(DATABASE, 'storage/*/');
}

const DATABASE = /^storage\/(sqlite|postgres)\//;

function pathsOf(sources: readonly Source[]): string {
  return sources.map(({ path }) => path).join(', ');
}
