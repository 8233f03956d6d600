/** The recording of a load: two runs of a service, and between them a backup, a migration and a new key of checkpoints. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBackups } from '../../src/project/index.ts';
import { type DiskState, writeInto } from './disk-state.ts';
import { CHANGED_ITEM, KINDS, readSetupToken, type Stage, setUpStage } from './load.ts';
import { type Client, toAnswered, toFact } from './load-client.ts';
import { createRecorder, type Recorder, type Recording, writeLoadProject } from './recording.ts';

/** Rounds of each kind of request in a run. */
const ROUNDS = 2;

/** A recording, and the disk on which it was made. */
export interface RecordedLoad extends Recording {
  readonly root: string;
}

/** Records the load in the folder. */
export async function recordLoad(folder: string): Promise<RecordedLoad> {
  const project = writeLoadProject(folder);
  const recorder = createRecorder(folder, project);
  const { root, answered } = recorder;
  let stage: Stage | undefined;
  await recorder.runService(async (client, program) => {
    const printed = await readSetupToken(program);
    answered.push(printed);
    stage = await setUpStage(client, printed.requestId);
    await runRounds(client, stage, 'first');
  });
  await recorder.runCommand(['backup', join(root, 'backup.db')], toAnswered('backup', { backups: ['backup.db'] }));
  await migrate(recorder, project);
  // The next start makes another key.
  await recorder.runOther(['rm', join(root, 'data', 'checkpoint.ed25519.pem')]);
  await recorder.runService(async (client) => runRounds(client, stage as Stage, 'second'));
  return { root, project, answered, files: new Map(), events: recorder.readEvents() };
}

async function runRounds(client: Client, stage: Stage, run: string): Promise<void> {
  await Promise.all(
    Object.values(KINDS).map(async (runRound) => {
      for (let number = 0; number < ROUNDS; number++) await runRound(client, stage, `${run}.${number}`);
    }),
  );
}

/** Migrates the items with a step that loses a value. */
export async function migrate({ runCommand }: Recorder, project: string): Promise<void> {
  writeFileSync(join(project, 'resources', 'Item.yaml'), CHANGED_ITEM);
  const plan = await runCommand(['storage', 'plan', '--json'], toAnswered('plan'));
  // The exit code is 1, because the plan has a lossy step. If the disk fails, there is no plan.
  if (plan.out === '') return;
  const { hash } = JSON.parse(plan.out) as { readonly hash: string };
  const isMigrated = toFact(`count(*) = 2 FROM Item WHERE typeof(size) = 'integer'`);
  await runCommand(['storage', 'apply', '--allow', hash], toAnswered('migration', { facts: [isMigrated] }));
}

/** Repeats a restore. The content and the checkpoint that signs it are two files, so an interrupted restore may have to be repeated. */
export const repeatRestore: DiskState['repair'] = (root, config) => openBackups(config).restore(join(root, 'backup.db'));

/** Records the restore of the backup, on a disk with the given files. */
export async function recordRestore(folder: string, { project, files }: Pick<Recording, 'project' | 'files'>): Promise<Recording> {
  const recorder = createRecorder(folder, project);
  for (const [path, content] of files) writeInto(recorder.root, path, content);
  const isRestored = toFact(`count(*) = 1 FROM _Decision WHERE action = 'restore'`);
  const answer = toAnswered('restore', { facts: [isRestored] });
  await recorder.runCommand(['restore', join(recorder.root, 'backup.db'), '--yes'], answer);
  return { project, files, answered: recorder.answered, events: recorder.readEvents() };
}
