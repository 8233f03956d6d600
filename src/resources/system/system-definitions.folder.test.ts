import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { printMistake } from '../index.ts';
import { loadProject } from './system-definitions.ts';

let project: string;
let folder: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'bailiwick-project-'));
  folder = join(project, 'resources');
});
afterEach(() => rmSync(project, { recursive: true }));

describe('loadProject', () => {
  it('reports a subfolder, whose definitions would not be in force', () => {
    mkdirSync(join(folder, 'blog'), { recursive: true });
    mkdirSync(join(folder, '.git'));
    writeFileSync(join(folder, 'blog', 'Article.yaml'), 'name: Article\nfields: { title: { type: string } }\n');
    const { definitions, mistakes } = loadProject(folder);
    expect(mistakes.map(printMistake)).toEqual(['resources/blog expected no subfolder: files in it are not loaded']);
    expect(definitions.has('Article')).toBe(false);
  });
});
