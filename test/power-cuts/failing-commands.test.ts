/** A disk that fails to sync during a first start, a backup, a migration or a restore. The test needs strace; without it, the tests are skipped. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canTrace } from '../process/strace.ts';
import { type DiskState, readDisk } from './disk-state.ts';
import { failSyncs, findFaultsAfter } from './failed-syncs.ts';
import { readSetupToken, setUpStage } from './load.ts';
import { type Answered, toAnswered } from './load-client.ts';
import { migrate, repeatRestore } from './recorded-load.ts';
import { createRecorder, type Recorder, writeLoadProject } from './recording.ts';

/** A program whose syncs fail. */
interface Failing {
  readonly name: string;
  /** True if the program begins with the data of a service, and keeps them. */
  readonly isWithData: boolean;
  run(recorder: Recorder, project: string): Promise<unknown>;
  readonly repair?: DiskState['repair'];
}

const PROGRAMS: readonly Failing[] = [
  {
    name: 'a first start',
    isWithData: false,
    // A start that fails is the right answer to a disk that fails.
    run: ({ runService }) => runService(async () => undefined).catch(() => undefined),
  },
  {
    name: 'a backup',
    isWithData: true,
    run: ({ root, runCommand }) => runCommand(['backup', join(root, 'new.db')], toAnswered('backup', { backups: ['new.db'] })),
  },
  { name: 'a migration', isWithData: true, run: migrate },
  {
    name: 'a restore',
    isWithData: false,
    run: ({ root, runCommand }) => runCommand(['restore', join(root, 'backup.db'), '--yes'], toAnswered('restore')),
    repair: repeatRestore,
  },
];

/** More syncs than any of the programs makes. */
const MAX_SYNCS = 60;

describe.skipIf(!canTrace)('a sync that fails', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-failing-'));
  const before: Answered[] = [];
  let original: string;
  beforeAll(async () => {
    const recorder = createRecorder(folder, writeLoadProject(folder));
    original = recorder.root;
    await recorder.runService(async (client, program) => void (await setUpStage(client, (await readSetupToken(program)).requestId)));
    await recorder.runCommand(['backup', join(original, 'backup.db')], toAnswered('backup', { backups: ['backup.db'] }));
    before.push(...recorder.answered);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  describe.each(PROGRAMS)('during $name', ({ name, isWithData, run, repair }) => {
    it.each(['once', 'from then on'])('loses nothing, and leaves nothing incomplete, if it fails %s', async (how) => {
      const faults: string[] = [];
      for (let number = 1, hasFailed = true; hasFailed && number < MAX_SYNCS; number++) {
        const own = mkdtempSync(join(folder, 'run-'));
        const project = writeLoadProject(own);
        const recorder = createRecorder(own, project, failSyncs(how === 'once' ? `${number}` : `${number}+`));
        if (name !== 'a first start') cpSync(original, recorder.root, { recursive: true });
        const files = readDisk(recorder.root);
        await run(recorder, project);
        const { answered, root } = recorder;
        const events = recorder.readEvents();
        hasFailed = events.some(({ kind }) => kind === 'failedSync');
        const found = await findFaultsAfter(
          { project, files, events, answered },
          { folder: own, root, before: isWithData ? before : [], repair },
        );
        faults.push(...found.map((fault) => `sync ${number}: ${fault}`));
        rmSync(own, { recursive: true, force: true });
      }
      expect(faults).toEqual([]);
    });
  });
});
