/** Cuts the power at moments of a recording, and returns what the disk contains then. */
import { ALL_WRITTEN, createDisk, SURVIVALS } from './disk-model.ts';
import type { DiskState } from './disk-state.ts';
import type { FileEvent } from './file-events.ts';
import type { Recording } from './recording.ts';

/** The number of power cuts and their random choices. */
export interface Cuts {
  readonly count: number;
  readonly random: () => number;
}

/** The state after a power cut, with its description. */
export interface CutState extends DiskState {
  readonly name: string;
}

/**
 * Yields the states after power cuts. A third of the cuts follow a response, when nothing more than what was answered may be on the disk. Another
 * third are at changes of folders, which are rare: new files, links, renames, removals, and the moments after them until something is synced.
 */
export function* cutPower({ events, answered, files }: Recording, { count, random }: Cuts): Generator<CutState> {
  const any = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const all = events.map((_, at) => at);
  const responses = all.filter((at) => events[at]?.kind === 'response');
  const changes = folderChanges(events);
  const moments = new Set(Array.from({ length: count }, (_, number) => any([all, responses, changes][number % 3] ?? all)));
  const byRequest = new Map(answered.map((each) => [each.requestId, each]));
  const disk = createDisk(files);
  const before: (typeof answered)[number][] = [];
  for (const [at, event] of events.entries()) {
    disk.apply(event, at);
    const answer = event.kind === 'response' ? byRequest.get(event.requestId) : undefined;
    if (answer !== undefined) before.push(answer);
    if (!moments.has(at)) continue;
    const survival = any(SURVIVALS);
    const name = `after event ${at} of ${events.length} (${event.kind}), with ${survival.name}`;
    yield { name, files: disk.cut(survival, random), answered: [...before] };
  }
}

const IN_FOLDER: ReadonlySet<FileEvent['kind']> = new Set(['create', 'mkdir', 'link', 'rename', 'unlink']);

/** Returns the numbers of the events that change a folder, and of those that follow until the next sync or response has happened. */
function folderChanges(events: readonly FileEvent[]): readonly number[] {
  let isChanged = false;
  return events.flatMap(({ kind }, at) => {
    if (IN_FOLDER.has(kind)) isChanged = true;
    const numbers = isChanged ? [at] : [];
    if (kind === 'sync' || kind === 'response') isChanged = false;
    return numbers;
  });
}

/** Returns the files at the end of a recording, with all that was written. */
export function filesAtEnd({ events, files }: Pick<Recording, 'events' | 'files'>): ReadonlyMap<string, Buffer> {
  const disk = createDisk(files);
  for (const [at, event] of events.entries()) disk.apply(event, at);
  return disk.cut(ALL_WRITTEN, () => 0);
}
