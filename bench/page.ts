import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Results } from './measurement.ts';
import { type Abouts, renderReport } from './report.ts';

const PAGE = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url));
const PLOTS = fileURLToPath(new URL('../docs/benchmarks/', import.meta.url));
/** Between these lines of the page stands what is made; the rest is written by people. */
const [BEGIN, END] = ['<!-- made by npm run bench -- report -->', '<!-- until here -->'];

/** Writes the page of results and its pictures from all that is kept. */
export function writePage(results: readonly Results[], abouts: Abouts): void {
  const { markdown, plots } = renderReport(results, abouts);
  writeFileSync(PAGE, fillPage(readFileSync(PAGE, 'utf8'), markdown));
  mkdirSync(PLOTS, { recursive: true });
  for (const name of readdirSync(PLOTS)) if (!plots.has(name)) rmSync(`${PLOTS}${name}`);
  for (const [name, picture] of plots) writeFileSync(`${PLOTS}${name}`, picture);
}

/** The page with its part that is made replaced. @throws Error where it has no such part. */
export function fillPage(page: string, made: string): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`expected the lines ${BEGIN} and ${END} in the page of results`);
  return `${page.slice(0, from)}${BEGIN}\n\n${made}\n\n${page.slice(to)}`;
}
