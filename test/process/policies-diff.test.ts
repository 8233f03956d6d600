/** `bailiwick policies diff`: what the policies in files would change, and which recorded decisions. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningService, startService } from '../harness.ts';
import type { Ended } from './program.ts';
import { runCommand } from './run-command.ts';

const project = mkdtempSync(join(tmpdir(), 'bailiwick-diff-'));
const file = join(project, 'policies/readers.yaml');
let service: RunningService;
let email: string;

const policyOf = (status: string): string => `name: Readers
type: ATTRIBUTE_BASED
rules:
  - resource: Article
    action: read
    description: readers read
    conditions: [{ field: resource.status, operator: eq, value: ${status} }]
roles: [{ role: user }]
`;

beforeAll(async () => {
  cpSync('examples/newsroom/resources', join(project, 'resources'), { recursive: true });
  mkdirSync(join(project, 'policies'));
  writeFileSync(file, policyOf('published'));
  service = await startService({ project });
  email = (await service.admin()).email;
});
afterAll(async () => {
  await service.close();
  rmSync(project, { recursive: true });
});

const run = (...args: readonly string[]): Promise<Ended> =>
  runCommand([...args, '--project', project, '--data', service.dataFolder, '--database', service.database, '--as', email]);

it('policies diff names the policies to create, then those that differ, with the decisions that would change', async () => {
  const created = await run('policies', 'diff', '--exit-code');
  expect([created.code, created.out]).toEqual([1, expect.stringContaining('created policy "Readers"')]);
  expect((await run('policies', 'apply')).code).toBe(0);
  expect(await run('policies', 'diff', '--exit-code')).toMatchObject({
    code: 0,
    out: '0 to create, 0 to update, 1 unchanged, 0 to assign\n',
  });

  const { id, token } = await service.user();
  const article = { title: 'A budget', slug: 'a-budget', status: 'published', authorId: id };
  const published = await service.createRecord('Article', article);
  const draft = await service.createRecord('Article', { ...article, slug: 'a-draft', status: 'draft' });
  for (const record of [published, published, draft]) await service.call('GET', `/api/Article/${record}`, { token });

  writeFileSync(file, policyOf('draft'));
  const before = await service.decisions('kind=access');
  const { out } = await run('policies', 'diff', '--json');
  const { updated, changes, replay } = JSON.parse(out);
  expect([updated, changes[0].name, changes[0].differences.length]).toEqual([1, 'Readers', 1]);
  expect(replay).toMatchObject({ allowToDeny: 2, denyToAllow: 1, changed: 0, isPartial: false });
  expect(replay.examined).toBe(before.length);
  const printed = (await run('policies', 'diff')).out;
  expect(printed).toContain('allow → deny, 2 ×: user read Article');
  expect(printed).toContain('deny → allow, 1 ×: user read Article');
  // Nothing was stored.
  expect((await service.call('GET', `/api/Article/${published}`, { token })).status).toBe(200);
  expect(JSON.parse((await run('policies', 'diff', '--json', '--entries', '1')).out).replay).toMatchObject({
    examined: 1,
    isPartial: true,
  });
  expect(readFileSync(file, 'utf8')).toBe(policyOf('draft'));
});

it.each([
  [['--entries', '0'], '--entries'],
  [['--since', 'yesterday'], 'from'],
])('policies diff refuses %j', async (flags, message) => {
  const { code, err } = await run('policies', 'diff', ...flags);
  expect([code === 0, err]).toEqual([false, expect.stringContaining(message)]);
});
