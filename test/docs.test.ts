import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderReference } from '../scripts/reference.ts';

const folder = new URL('../docs/reference/', import.meta.url);
const reference = renderReference();

describe('docs/reference', () => {
  it.each([...reference.keys()])('holds %s as the tables say it now; `npm run docs` writes it anew', (name) => {
    expect(readFileSync(new URL(name, folder), 'utf8')).toBe(reference.get(name));
  });

  it('holds nothing else', () => {
    expect(readdirSync(folder).sort()).toEqual([...reference.keys()].sort());
  });

  it('has no empty table', () => {
    for (const [name, content] of reference) expect(content.split('\n').length, name).toBeGreaterThan(10);
  });
});

describe('docs/decisions/dependencies.md', () => {
  it('gives a reason for every package, and for none that is not used', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    const text = readFileSync(new URL('../docs/decisions/dependencies.md', import.meta.url), 'utf8');
    const explained = [...text.matchAll(/^\| `(.+?)` \| .{20,}\|$/gm)].map(([, name]) => name);
    expect(explained.sort()).toEqual([...Object.keys(dependencies), ...Object.keys(devDependencies)].sort());
  });
});

describe('docs/decisions/README.md', () => {
  it('has a row for every page, and for none that is not there', () => {
    const decisions = new URL('../docs/decisions/', import.meta.url);
    const listed = [...readFileSync(new URL('README.md', decisions), 'utf8').matchAll(/^\| \[[^\]]+\]\((.+?)\) \|/gm)].map(
      ([, page]) => page,
    );
    expect(['README.md', ...listed].sort()).toEqual(readdirSync(decisions).sort());
  });
});
