import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SetupError } from '../../errors.ts';
import type { Definitions } from '../../resources/index.ts';
import type { BackupFile } from '../admin/system-status.ts';
import { openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

let admin: TestAdmin;
let read: () => Definitions;
let lastBackup: BackupFile | undefined;
let runningWorkers: number | undefined;
beforeAll(async () => {
  const definitions = { Article: { fields: { title: { type: 'string' } } } };
  const system = {
    version: '1.2.3',
    node: '24.0.0',
    startedAt: '2026-01-31T09:00:00.000Z',
    options: [{ name: 'port', group: 'network', source: 'flag' as const, value: 8787 }],
    disk: { freeBytes: 5, databaseBytes: undefined, fault: 'the disk of the database is almost full' },
    uptimeSeconds: () => 7,
    runningWorkers: () => runningWorkers,
    lastBackup: () => lastBackup,
  };
  const head = (at: string) => ({ at }) as never;
  const checkpoints = {
    keys: new Map(),
    heads: new Map([
      ['a', head('2026-01-31T09:59:00.000Z')],
      ['b', head('2026-01-31T09:58:00.000Z')],
    ]),
  };
  admin = await openAdmin({ definitions }, { system, checkpoints, readDefinitions: () => read() });
  read = () => admin.deps.policyStore.definitions;
});
afterAll(() => admin.pipeline.dispose());

const status = async () => (await admin.bodyOf<{ data: object }>('admin.system.read')).data;

describe('the state of the process', () => {
  it('shows versions, the revision, checks, queues, options and the last checkpoint', async () => {
    expect(await status()).toEqual({
      version: '1.2.3',
      node: '24.0.0',
      startedAt: '2026-01-31T09:00:00.000Z',
      uptimeSeconds: 7,
      database: { kind: 'sqlite', version: expect.stringMatching(/^3\.\d+\.\d+$/), freeBytes: 5 },
      revision: expect.any(Number),
      definitions: { hash: expect.stringMatching(/^[0-9a-f]{64}$/), pending: 0 },
      checks: [
        { name: 'policies', ok: true },
        { name: 'database', ok: true },
        { name: 'disk', ok: false, why: 'the disk of the database is almost full' },
      ],
      queues: { waiting: expect.any(Number), longRunning: 0, longWaiting: 0, connections: 0 },
      lastCheckpointAt: '2026-01-31T09:59:00.000Z',
      options: [{ name: 'port', group: 'network', source: 'flag', value: 8787 }],
    });
  });

  it('shows the number of running workers of a service with several', async () => {
    runningWorkers = 3;
    expect(await status()).toMatchObject({ runningWorkers: 3 });
    runningWorkers = undefined;
    expect(await status()).not.toHaveProperty('runningWorkers');
  });

  it('shows the last backup if there is one', async () => {
    lastBackup = { name: '20260131T090000000Z-manual.db', at: '2026-01-31T09:00:00.000Z', bytes: 10 };
    expect(await status()).toMatchObject({ lastBackup });
    lastBackup = undefined;
  });

  it('counts the resources whose files differ from the definitions in force', async () => {
    const inForce = admin.deps.policyStore.definitions;
    const article = inForce.get('Article');
    if (article === undefined) throw new Error('expected the resource Article');
    read = () => new Map([...inForce, ['Article', { ...article, hash: 'other' }], ['Note', { ...article, name: 'Note' }]]);
    expect(await status()).toMatchObject({ definitions: { pending: 2 } });
    read = () => {
      throw new SetupError('a mistake');
    };
    expect(await status()).toMatchObject({ definitions: expect.not.objectContaining({ pending: expect.anything() }) });
    read = () => inForce;
  });
});
