/** The table of mutations says what can still be done to the sources; what comes of it, `npm run test:long` tries. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MUTATIONS } from './long/mutations.ts';

const GOLDEN = new URL('./golden/mutations.md', import.meta.url);

function read(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
}

describe('the table of mutations', () => {
  it.each(MUTATIONS)('finds once what it changes: $name', ({ file, find, replace, red }) => {
    expect(read(file).split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
    expect(read(red)).not.toBe('');
  });

  it('names each differently', () => {
    expect(new Set(MUTATIONS.map(({ name }) => name)).size).toBe(MUTATIONS.length);
  });

  it('is what people read: test/golden/mutations.md (UPDATE_GOLDEN=1 writes it anew)', () => {
    const now = toMarkdown();
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, now);
    expect(now).toBe(readFileSync(GOLDEN, 'utf8'));
  });
});

function toMarkdown(): string {
  const rows = MUTATIONS.map(({ name, file, red, test }) => `| ${cell(name)} | \`${file}\` | \`${red}\`: ${cell(test)} |`);
  return `# What breaks, and which test says so

<!-- made by UPDATE_GOLDEN=1 npm test: test/long/mutations.ts says how each is done -->

${MUTATIONS.length} ways to break the program. \`npm run test:long\` tries each in a copy: the test named turns red, and is green without.

| broken so that | in | noticed by |
|---|---|---|
${rows.join('\n')}
`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
