/** Power cuts of a service under load. The test needs strace, which records the file operations; without it, the tests are skipped. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { casesOf } from '../budget.ts';
import { canTrace } from '../process/strace.ts';
import { createRandom } from '../random.ts';
import { type DiskState, findFaults, readDisk } from './disk-state.ts';
import type { FileEvent } from './file-events.ts';
import { cutPower, filesAtEnd } from './power-cut.ts';
import { type RecordedLoad, recordLoad, recordRestore, repeatRestore } from './recorded-load.ts';
import type { Recording } from './recording.ts';

const CUTS = casesOf(20);
/** Cuts that find a service that answers too early. */
const FEW = 30;
const seed = Math.floor(Math.random() * 2 ** 32);

describe.skipIf(!canTrace)(`a power cut (seed ${seed})`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-power-'));
  let recording: RecordedLoad;
  beforeAll(async () => {
    recording = await recordLoad(folder);
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const cut = (events: readonly FileEvent[], count: number) => cutRecording({ ...recording, events }, count);

  /** Returns the faulty states after power cuts. */
  async function cutRecording(
    recorded: Recording,
    count: number,
    toRepair: (state: DiskState) => DiskState['repair'] = () => undefined,
  ): Promise<readonly string[]> {
    const faulty: string[] = [];
    for (const state of cutPower(recorded, { count, random: createRandom(seed) })) {
      const faults = await findFaults(folder, recording.project, { ...state, repair: toRepair(state) });
      if (faults.length > 0) faulty.push([state.name, ...faults.slice(0, 5)].join('\n  '));
    }
    return faulty;
  }

  it('the recording contains every response, and the model of the disk has the files of the disk', () => {
    expect(recording.answered.map(({ requestId }) => requestId)).toEqual(expect.arrayContaining(['backup', 'migration']));
    const responses = recording.events.flatMap((event) => (event.kind === 'response' ? [event.requestId] : []));
    expect(new Set(responses)).toEqual(new Set(recording.answered.map(({ requestId }) => requestId)));
    const files = [...readDisk(recording.root)];
    const model = filesAtEnd(recording);
    expect([...model.keys()].sort()).toEqual(files.map(([name]) => name).sort());
    expect(files.filter(([name, content]) => model.get(name)?.equals(content) !== true).map(([name]) => name)).toEqual([]);
  });

  it(`loses nothing that was answered and leaves no part of a change, in ${CUTS} states of the disk`, async () => {
    expect(await cut(recording.events, CUTS)).toEqual([]);
  });

  it(`a restore leaves the former or the restored content, in ${CUTS} states of the disk`, async () => {
    const restore = await recordRestore(folder, { ...recording, files: filesAtEnd(recording) });
    expect(await cutRecording(restore, CUTS, ({ answered }) => (answered.length === 0 ? repeatRestore : undefined))).toEqual([]);
  });

  it('a service that does not sync folders loses what it answered', async () => {
    const events = recording.events.filter((event) => event.kind !== 'sync' || event.path.includes('.'));
    expect(await cut(events, FEW)).not.toEqual([]);
  });

  it('a service that does not sync loses what it answered', async () => {
    const events = recording.events.filter(({ kind }) => kind !== 'sync');
    expect(await cut(events, FEW)).not.toEqual([]);
  });

  it('a service that answers before its commit is synced loses what it answered', async () => {
    expect(await cut(answerBeforeSync(recording.events), FEW)).not.toEqual([]);
  });
});

/** Moves each response before the sync that precedes it. */
function answerBeforeSync(events: readonly FileEvent[]): readonly FileEvent[] {
  const moved: FileEvent[] = [];
  for (const event of events) {
    const sync = event.kind === 'response' ? moved.findLastIndex(({ kind }) => kind === 'sync') : -1;
    moved.splice(sync < 0 ? moved.length : sync, 0, event);
  }
  return moved;
}
