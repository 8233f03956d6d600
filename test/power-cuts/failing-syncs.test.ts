/** A disk that fails to sync while a service is under load. The test needs strace, which makes syncs fail; without it, the tests are skipped. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Program } from '../process/program.ts';
import { canTrace } from '../process/strace.ts';
import { readDisk } from './disk-state.ts';
import { failSyncs, findFaultsAfter } from './failed-syncs.ts';
import { KINDS, readSetupToken, type Stage, setUpStage } from './load.ts';
import { type Answered, type Client, createClient } from './load-client.ts';
import { createRecorder, startLoaded, writeLoadProject } from './recording.ts';

/**
 * Numbers of the syncs that fail, counted from the start of the service. The second one is of the folder with the new write-ahead log: SQLite
 * ignores its failure.
 */
const FAILING = [1, 3, 4, 5, 8, 13, 21, 34];
/** Rounds after which a sync must have failed. */
const MAX_ROUNDS = 20;

describe.skipIf(!canTrace)('a sync that fails under load', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-syncs-'));
  const original = join(folder, 'original');
  let project: string;
  let stage: Stage;
  const before: Answered[] = [];
  beforeAll(async () => {
    project = writeLoadProject(folder);
    const program = await startLoaded(original, project);
    const client = createClient(program.url);
    stage = await setUpStage(client, (await readSetupToken(program)).requestId);
    before.push(...client.answered);
    expect(await program.stop()).toBe(0);
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs the load while syncs fail; returns the faults of the states that power cuts leave, and of the disk itself. */
  async function run(when: string, inspect: (program: Program, client: Client) => Promise<void>): Promise<readonly string[]> {
    const recorder = createRecorder(folder, project, failSyncs(when));
    cpSync(original, join(recorder.root, 'data'), { recursive: true });
    const files = readDisk(recorder.root);
    await recorder.runService(async (client, program) => {
      expect(await runUntilUnavailable(client, { ...stage })).toBe(true);
      await inspect(program, client);
    });
    const { answered, root } = recorder;
    const events = recorder.readEvents();
    expect(events.map(({ kind }) => kind)).toContain('failedSync');
    return findFaultsAfter({ project, files, events, answered }, { folder, root, before });
  }

  it.each(FAILING)('refuses only the commit whose sync fails, sync %i, and loses nothing that was answered', async (number) => {
    const faults = await run(`${number}`, async ({ url }, { ask }) => {
      await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
      await ask('GET /api/Article', { token: stage.admin });
    });
    expect(faults).toEqual([]);
  });

  it.each(FAILING)(
    'answers 503 to reads and /readyz while every sync from %i on fails, and loses nothing that was answered',
    async (number) => {
      const faults = await run(`${number}+`, async ({ url }) => {
        expect((await fetch(`${url}/readyz`)).status).toBe(503);
        const headers = { authorization: `Bearer ${stage.admin}` };
        const paths = ['/api/Article', '/api/Note?where[text][matches]=dolor%20ipsum', '/admin/api/policies', '/admin/api/decisions'];
        for (const path of paths) expect([path, (await fetch(url + path, { headers })).status]).toEqual([path, 503]);
        expect((await fetch(`${url}/healthz`)).status).toBe(200);
      });
      expect(faults).toEqual([]);
    },
  );
});

/** Runs all kinds of requests until one gets 503; returns true if one did. */
async function runUntilUnavailable(client: Client, stage: Stage): Promise<boolean> {
  let hasFailed = false;
  const loads = Object.values(KINDS).map(async (round) => {
    try {
      for (let number = 0; number < MAX_ROUNDS && !hasFailed; number++) await round(client, stage, `${number}`);
    } catch (error) {
      if (!(error instanceof Error && error.message.includes('STORAGE_UNAVAILABLE'))) throw error;
      hasFailed = true;
    }
  });
  await Promise.all(loads);
  return hasFailed;
}
