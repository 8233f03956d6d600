/** Makes the syncs of recorded programs fail, and checks what power cuts leave afterwards. */
import { createRandom } from '../random.ts';
import { type DiskState, findFaults, readDisk } from './disk-state.ts';
import type { Answered } from './load-client.ts';
import { cutPower } from './power-cut.ts';
import type { Recording } from './recording.ts';

/** Power cuts in each recording. */
const CUTS = 6;

/** Returns arguments of strace that let syncs fail with EIO: `3` the third one, `3+` all from the third one on. */
export function failSyncs(when: string): readonly string[] {
  return ['-e', `inject=fsync,fdatasync:error=EIO:when=${when}`];
}

/** The disk after a recording with failed syncs. */
export interface FailedDisk {
  /** The folder for the states to check. */
  readonly folder: string;
  readonly root: string;
  /** The requests that were answered before the recording. */
  readonly before: readonly Answered[];
  /** Repairs a state without an answer in which the verification finds damage. */
  readonly repair?: DiskState['repair'];
}

/** Returns the faults of the states that power cuts leave, and of the disk itself. */
export async function findFaultsAfter(recording: Recording, { folder, root, before, repair }: FailedDisk): Promise<readonly string[]> {
  const { project, answered } = recording;
  const seed = Math.floor(Math.random() * 2 ** 32);
  const faults: string[] = [];
  const states = cutPower(recording, { count: CUTS, random: createRandom(seed) });
  for (const state of [...states, { name: 'the disk', files: readDisk(root), answered }]) {
    const mayRepair = state.answered.length === 0;
    const found = await findFaults(folder, project, {
      ...state,
      answered: [...before, ...state.answered],
      repair: mayRepair ? repair : undefined,
    });
    if (found.length > 0) faults.push([`${state.name} (seed ${seed})`, ...found.slice(0, 5)].join('\n  '));
  }
  return faults;
}
