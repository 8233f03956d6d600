import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const assets = fileURLToPath(new URL('../../dist/console/assets/', import.meta.url));

/** Returns the class names of the component library in a text. */
function classesIn(text: string): ReadonlySet<string> {
  return new Set(text.match(/\bm_[0-9a-f]+\b/g));
}

/** Returns the class names in all files of the build with an extension. */
function builtClasses(extension: string): ReadonlySet<string> {
  const names = readdirSync(assets).filter((name) => name.endsWith(extension));
  return classesIn(names.map((name) => readFileSync(`${assets}${name}`, 'utf8')).join('\n'));
}

it('the build has the styles of every component of the library that it contains, and of no other', () => {
  const all = classesIn(readFileSync(createRequire(import.meta.url).resolve('@mantine/core/styles.css'), 'utf8'));
  const [used, styled] = [builtClasses('.js'), builtClasses('.css')];
  const expected = [...all].filter((name) => used.has(name));
  expect(expected.length).toBeGreaterThan(100);
  expect(expected.filter((name) => !styled.has(name))).toEqual([]);
  // A style sheet may style parts of its component that the console does not use.
  expect(styled.size).toBeLessThan(all.size * 0.8);
});
