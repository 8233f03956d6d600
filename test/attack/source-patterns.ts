/** The regular expressions of `src/`, read from the syntax trees, so that none is missed. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));

/** A regular expression literal, and the file that contains it. */
export interface SourcePattern {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

/** The literals of `src/`, and the files that build a regular expression from a text instead. */
export interface SourcePatterns {
  readonly patterns: readonly SourcePattern[];
  readonly built: readonly string[];
}

/** Collects the regular expressions of `src/` without its tests. */
export function collectPatterns(): SourcePatterns {
  const patterns: SourcePattern[] = [];
  const built: string[] = [];
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) => /(?<!\.test|\.fixture)\.ts$/.test(file));
  for (const file of files) {
    const text = readFileSync(`${SOURCES}${file}`, 'utf8');
    visit(parseAst(text, { lang: 'ts' }, file), (node) => {
      const { regex, callee } = node as { regex?: { pattern: string; flags: string }; callee?: { name?: string } };
      if (regex !== undefined) patterns.push({ file, source: regex.pattern, flags: regex.flags });
      if (callee?.name === 'RegExp') built.push(file);
    });
  }
  return { patterns, built };
}

function visit(node: unknown, see: (node: object) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) see(node);
  for (const part of Object.values(node)) visit(part, see);
}
