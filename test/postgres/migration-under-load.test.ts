/** A process migrates the tables while replicas answer requests: no request fails, and none uses old definitions afterwards. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { openTables } from '../../src/project/index.ts';
import { type Reply, type RunningService, startService } from '../harness.ts';
import { createDatabaseUrl } from './test-database.ts';

const note = (fields: string): string => `name: Note\nfields:\n${fields}`;
const FIRST = note('  title: { type: string }\n  size: { type: string }\n');
/** A rename, a new type, a new field, an index. */
const STEPS: readonly (readonly [string, fields: readonly string[]])[] = [
  [note('  heading: { type: string, renamedFrom: title, index: true }\n  size: { type: string }\n'), ['heading', 'size']],
  [note('  heading: { type: string }\n  size: { type: integer }\n'), ['heading', 'size']],
  [note('  heading: { type: string }\n  size: { type: integer }\n  more: { type: boolean, default: true }\n'), ['heading', 'size', 'more']],
  [
    note('  title: { type: string, renamedFrom: heading }\n  size: { type: string }\n  more: { type: boolean }\n'),
    ['title', 'size', 'more'],
  ],
];

const settings = { database: createDatabaseUrl(''), jwtSecret: 'one secret for all the replicas of a test', rateLimit: 0 };
let replicas: readonly RunningService[];

beforeAll(async () => {
  replicas = await Promise.all([1, 2].map(() => startService({ definitions: { 'Note.yaml': FIRST }, settings })));
});
afterAll(() => Promise.all(replicas.map((replica) => replica.close())));

it('replicas answer under load during each migration', async () => {
  const [first] = replicas as readonly [RunningService];
  const { token } = await first.admin();
  for (let size = 0; size < 20; size++) await first.createRecord('Note', { title: `note ${size}`, size: `${size}` });
  const answers: Reply[] = [];
  let goesOn = true;
  const asking = replicas.flatMap((replica) =>
    [0, 1].map(async () => {
      while (goesOn) {
        answers.push(await replica.call('GET', '/api/Note?sort=size&limit=5', { token }));
        answers.push(await replica.call('POST', '/api/Note', { token, body: { size: null } }));
      }
    }),
  );
  for (const [text, fields] of STEPS) {
    await apply(first, text);
    for (const replica of replicas) {
      const { status, body } = await replica.call('GET', '/api/Note?limit=1', { token });
      const [shown] = (body as { readonly data: readonly object[] }).data;
      expect([status, Object.keys(shown ?? {}).slice(5)]).toEqual([200, fields]);
    }
  }
  goesOn = false;
  await Promise.all(asking);
  const statuses = Map.groupBy(answers, ({ status, text }) => (status < 300 ? 'fine' : text));
  expect([...statuses.keys()]).toEqual(['fine']);
  // Until now, prepared statements have written integers into this column.
  for (const replica of replicas) {
    const made = await replica.call('POST', '/api/Note', { token, body: { size: '007' } });
    expect(made.at('data.size')).toBe('007');
    expect((await replica.call('GET', `/api/Note/${made.at('data.id')}`, { token })).at('data.size')).toBe('007');
  }
  const kept = await first.call('GET', '/api/Note?where[size]=7', { token });
  expect(kept.at('data.0')).toMatchObject({ title: 'note 7', size: '7' });
});

/** Migrates as `bailiwick storage apply` does in another process. */
async function apply({ dataFolder }: RunningService, text: string): Promise<void> {
  const project = join(dataFolder, '..', 'project');
  writeFileSync(join(project, 'resources', 'Note.yaml'), text);
  const tables = await openTables(parseConfig({ flags: { ...settings, project, jwtSecret: undefined }, env: {} }), {
    log: () => undefined,
  });
  const { plan } = await tables.apply({});
  expect(plan.held).toEqual([]);
  await tables.close();
}
