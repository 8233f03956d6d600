/** The disk space of an installed package, computed from the lock file and the packages of the checkout, without a network. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes of a block, in which file systems allocate files. */
const BLOCK = 4096;

interface LockedPackage {
  readonly dev?: boolean;
  /** True for a development dependency that is also an optional peer dependency. */
  readonly devOptional?: boolean;
  readonly link?: boolean;
}

/** Returns the packages that an installation for this platform contains beside ours, as paths below the checkout. */
export function dependenciesOf(root: string): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, LockedPackage> };
  const used = Object.entries(packages).filter(
    ([path, { dev, devOptional, link }]) => path.startsWith('node_modules/') && !dev && !devOptional && !link,
  );
  // Packages for other platforms are locked, but not installed.
  return used.map(([path]) => path).filter((path) => existsSync(join(root, path)));
}

/** Returns the bytes that the files of a package take on disk, without packages inside it. */
export function diskSpaceOf(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== 'node_modules');
  return entries.reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? BLOCK + diskSpaceOf(path) : Math.ceil(statSync(path).size / BLOCK) * BLOCK);
  }, 0);
}
