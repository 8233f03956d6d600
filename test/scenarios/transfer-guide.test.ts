/** Runs the commands of the guide to import and export. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { type RunningService, startService, type TestUser } from '../harness.ts';

// The tests of this file build on each other.
const it = createChain();

const guide = readFileSync(new URL('../../docs/guides/transfer.md', import.meta.url), 'utf8');
const examples = (language: string): readonly string[] =>
  [...guide.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].filter((block) => block[1] === language).map((block) => block[2] ?? '');

let service: RunningService;
let admin: TestUser;
beforeAll(async () => {
  service = await startService({ project: 'examples/newsroom' });
  admin = await service.admin();
});
afterAll(() => service.close());

async function type(command: string): Promise<string> {
  const env = { PATH: process.env['PATH'], URL: service.url, TOKEN: admin.token, AUTHOR: admin.id };
  return (await promisify(execFile)('sh', ['-eu', '-c', command], { env })).stdout;
}

describe('the guide to import and export', () => {
  const [importing = '', exporting = ''] = examples('sh');

  it('the guide to import and export has an import with the response shown', async () => {
    expect(JSON.parse(await type(importing))).toEqual(JSON.parse(examples('json')[0] ?? ''));
  });

  it('the guide to import and export has an export that works', async () => {
    expect((await type(exporting)).replace(/[0-9a-f-]{36}/, 'ID')).toBe('id,slug,title\r\nID,a-harbour,A harbour\r\n');
  });

  it('the guide to import and export shows the problem of a row that stops an import', async () => {
    const rows = ['One more', 'x'].map((title) =>
      JSON.stringify({ title, slug: title.toLowerCase().replace(' ', '-'), authorId: admin.id }),
    );
    const importing = `curl -s -X POST "$URL/api/Article/import" -H "authorization: Bearer $TOKEN" -H 'content-type: application/x-ndjson' --data-binary '${rows.join('\n')}'`;
    expect(JSON.parse(await type(importing))).toMatchObject(JSON.parse(examples('json')[1] ?? ''));
  });

  it('the guide to import and export has an import of a JSON body that works', async () => {
    const body = (examples('json')[2] ?? '').replace('…', admin.id);
    const importing = `curl -s -X POST "$URL/api/Article/import" -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' -d '${body}'`;
    expect(JSON.parse(await type(importing))).toMatchObject({ data: { imported: 0, unchanged: 1, rejected: 0 } });
  });
});
