/** README.md lists every test file of this folder, and the test titles that it quotes exist. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync(new URL('README.md', import.meta.url), 'utf8').replaceAll(/^[^|].*$/gm, '');
/** Test files, with the titles quoted after each link. */
const named = [...page.matchAll(/\[[^\]]*\]\(([^)]+)\)((?:,? ?"[^"]*")*)/g)].map(([, file = '', names = '']) => ({
  file,
  names: [...names.matchAll(/"([^"]*)"/g)].map(([, name = '']) => name),
}));

it.each(named)('$file contains the titles that README.md quotes', ({ file, names }) => {
  const source = readFileSync(new URL(file, import.meta.url), 'utf8').replaceAll("\\'", "'");
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) expect(source, name).toContain(name);
});

it('README.md lists every test file of this folder', () => {
  const suites = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.test.ts') && name !== 'index.test.ts');
  expect(named.map(({ file }) => file)).toEqual(expect.arrayContaining(suites));
});
