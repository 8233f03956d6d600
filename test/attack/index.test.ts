/** The table of attacks names tests that exist, and every suite of this folder. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync(new URL('README.md', import.meta.url), 'utf8').replaceAll(/^[^|].*$/gm, '');
/** Suites with the names of tests that follow each link. */
const named = [...page.matchAll(/\[[^\]]*\]\(([^)]+)\)((?:,? ?"[^"]*")*)/g)].map(([, file = '', names = '']) => ({
  file,
  names: [...names.matchAll(/"([^"]*)"/g)].map(([, name = '']) => name),
}));

it.each(named)('$file has what the table says', ({ file, names }) => {
  const source = readFileSync(new URL(file, import.meta.url), 'utf8').replaceAll("\\'", "'");
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) expect(source, name).toContain(name);
});

it('every suite of this folder is in the table', () => {
  const suites = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.test.ts') && name !== 'index.test.ts');
  expect(named.map(({ file }) => file)).toEqual(expect.arrayContaining(suites));
});
