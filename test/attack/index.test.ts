/** README.md lists every test file of this folder, and the test titles that it quotes exist. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync(new URL('README.md', import.meta.url), 'utf8').replaceAll(/^[^|].*$/gm, '');
/** Test files, with the titles quoted after each link. */
const links = [...page.matchAll(/\[[^\]]*\]\(([^)]+)\)((?:,? ?"[^"]*")*)/g)].map(([, file = '', names = '']) => ({
  file,
  names: [...names.matchAll(/"([^"]*)"/g)].map(([, name = '']) => name),
}));
const named = new Map([...Map.groupBy(links, ({ file }) => file)].map(([file, each]) => [file, each.map(({ names }) => names)]));

it.each([...named])('%s contains the titles that README.md quotes', (file, quoted) => {
  const source = readFileSync(new URL(file, import.meta.url), 'utf8').replaceAll("\\'", "'");
  for (const names of quoted) expect(names.length).toBeGreaterThan(0);
  for (const name of quoted.flat()) expect(source, name).toContain(name);
});

it('README.md lists every test file of this folder', () => {
  const suites = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.test.ts') && name !== 'index.test.ts');
  expect([...named.keys()]).toEqual(expect.arrayContaining(suites));
});
