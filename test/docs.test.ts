import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { renderReference } from '../scripts/reference.ts';
import { findBrokenLinks, listPages, namedPictures, namedScripts } from './doc-links.ts';

const folder = new URL('../docs/reference/', import.meta.url);
const reference = renderReference();

describe('docs/reference', () => {
  it.each([...reference.keys()])('%s in docs/reference is up to date; `npm run docs` writes it', (name) => {
    expect(readFileSync(new URL(name, folder), 'utf8')).toBe(reference.get(name));
  });

  it('docs/reference has no other page', () => {
    expect(readdirSync(folder).sort()).toEqual([...reference.keys()].sort());
  });

  it('docs/reference has no empty table', () => {
    for (const [name, content] of reference) expect(content.split('\n').length, name).toBeGreaterThan(10);
  });
});

describe('docs/decisions/dependencies.md', () => {
  it('docs/decisions/dependencies.md has a reason for every package, and no unused package', () => {
    const text = readFileSync(new URL('../docs/decisions/dependencies.md', import.meta.url), 'utf8');
    const explained = [...text.matchAll(/^\| `(.+?)` \| .{20,}\|$/gm)].map(([, name]) => name);
    const packages = ['../package.json', 'package.json', '../site/package.json', '../examples/typescript-client/package.json'].flatMap(
      (path) => {
        const { dependencies = {}, devDependencies } = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
        return [...Object.keys(dependencies), ...Object.keys(devDependencies)];
      },
    );
    expect(explained.sort()).toEqual(packages.sort());
  });
});

describe('docs/decisions/README.md', () => {
  it('docs/decisions/README.md has a row for every page, and no row without a page', () => {
    const decisions = new URL('../docs/decisions/', import.meta.url);
    const listed = [...readFileSync(new URL('README.md', decisions), 'utf8').matchAll(/^\| \[[^\]]+\]\((.+?)\) \|/gm)].map(
      ([, page]) => page,
    );
    expect(['README.md', ...listed].sort()).toEqual(readdirSync(decisions).sort());
  });
});

describe('pages', () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const pages = listPages(root);

  it('pages link to files and headings that exist', () => {
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/guides/policies.md', 'examples/newsroom/README.md']));
    expect(pages.flatMap((page) => findBrokenLinks(root, page))).toEqual([]);
  });

  it('pages are searched for links to missing files and headings', () => {
    const folder = mkdtempSync(join(tmpdir(), 'bailiwick-links-'));
    try {
      writeFileSync(
        join(folder, 'a.md'),
        '# The `first` page\n[b](b.md) [self](#the-first-page) [web](https://example.com/x) `[code](c.md)`\n',
      );
      writeFileSync(join(folder, 'b.md'), '[c](c.md) [a](a.md#the-first-page) [top](a.md#first)\n');
      expect(findBrokenLinks(folder, 'a.md')).toEqual([]);
      expect(findBrokenLinks(folder, 'b.md')).toEqual(['b.md: c.md leads to no file', 'b.md: a.md#first leads to no heading']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('pages show every picture of the documentation, and only pictures that exist', () => {
    const files = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((path) => join('docs', path));
    const images = files.filter((path) => /\.(?:png|svg|webp)$/.test(path));
    const shown = pages.flatMap((page) => namedPictures(readFileSync(join(root, page), 'utf8')).map((path) => join(dirname(page), path)));
    expect([...new Set(shown)].toSorted()).toEqual(images.toSorted());
  });

  it('pages are searched for pictures', () => {
    const html = '<img alt="a" src="a.webp"> <source srcset="b.webp"> ![c](c.png) `src="code.png"` <img src="https://example.com/d.png">';
    expect(namedPictures(html)).toEqual(['a.webp', 'b.webp', 'c.png']);
  });

  it('pages name npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const named = new Set(pages.flatMap((page) => namedScripts(readFileSync(join(root, page), 'utf8'))));
    expect([...named]).toEqual(expect.arrayContaining(['start', 'test', 'test:watch', 'check']));
    expect([...named].filter((name) => !(name in scripts))).toEqual([]);
  });
});
