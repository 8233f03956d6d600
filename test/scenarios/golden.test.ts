/** Files that were reviewed once and change only on purpose: `UPDATE_GOLDEN=1` writes them anew. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService } from '../harness.ts';
import { askEverything, type MatrixTable } from './matrix.ts';
import { PEOPLE } from './matrix-service.ts';

describe('who is answered what', () => {
  it('is what was reviewed: test/golden/authorization.md', { timeout: 180_000 }, async () => {
    checkGolden('authorization.md', toMarkdown(await askEverything()));
  });
});

describe('the API description of the newsroom', () => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startService({ project: 'examples/newsroom' });
  });
  afterAll(() => service.close());

  it('is what was reviewed: test/golden/openapi.newsroom.json', async () => {
    const reply = await service.call('GET', '/openapi.json', { token: (await service.admin()).token });
    expect(reply.status).toBe(200);
    checkGolden('openapi.newsroom.json', `${JSON.stringify(reply.body, null, 2)}\n`);
  });
});

function checkGolden(name: string, now: string): void {
  const file = new URL(`../golden/${name}`, import.meta.url);
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, now);
  expect(now).toBe(readFileSync(file, 'utf8'));
}

function toMarkdown(tables: readonly MatrixTable[]): string {
  const intro = `# Who is answered what

<!-- made by UPDATE_GOLDEN=1 npm test: test/scenarios/matrix.ts says what is asked -->

The example project, asked everything by everyone. An answer is the HTTP status; of lists also how many records they show. – stands where
the person can have no such record.

- **own records** has the templates "Own records" and "Own profile"; **editor** has the role \`editor\` and with it drafts of articles, and comments to
  read and delete; **admin without policies** is the same admin after "Administrators: full access" was deleted.
- Internal resources are tables of the service and no resources of the API: nobody is told more than that.
`;
  return [intro, ...tables.map(({ title, rows }) => `## ${title}\n\n${toTable(rows)}\n`)].join('\n');
}

function toTable(rows: MatrixTable['rows']): string {
  const cells = [['', ...PEOPLE], ...rows.map(({ what, answers }) => [what, ...answers])];
  const widths = cells[0]?.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = cells.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  return [lines[0], `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...lines.slice(1)].join('\n');
}
