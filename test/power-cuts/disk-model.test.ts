import { describe, expect, it } from 'vitest';
import { createRandom } from '../random.ts';
import { ALL_WRITTEN, createDisk, type Disk, SURVIVALS } from './disk-model.ts';
import type { FileEvent } from './file-events.ts';

/** An event. Syncs cover all events before them. */
type Given = FileEvent extends infer Event ? (Event extends { readonly begin: number } ? Omit<Event, 'begin'> : Event) : never;

const write = (path: string, text: string, offset?: number): Given => ({ kind: 'write', path, offset, bytes: Buffer.from(text) });
const sync = (path: string): Given => ({ kind: 'sync', path });
const CREATED: readonly Given[] = [{ kind: 'create', path: 'a' }, write('a', 'old'), sync('a'), sync('')];
const [NOTHING = ALL_WRITTEN] = SURVIVALS;

function diskAfter(...events: readonly Given[]): Disk {
  const disk = createDisk();
  for (const [at, event] of events.entries()) disk.apply({ begin: at, ...event } as FileEvent, at);
  return disk;
}

/** Returns the files that a power cut leaves, with their contents as text. */
function cut(disk: Disk, survival = NOTHING, seed = 1): Readonly<Record<string, string>> {
  return Object.fromEntries([...disk.cut(survival, createRandom(seed))].map(([path, content]) => [path, content.toString()]));
}

/** Returns the different contents of a file that many power cuts leave. */
function contents(disk: Disk, path: string): ReadonlySet<string | undefined> {
  const seeds = Array.from({ length: 300 }, (_, seed) => seed);
  return new Set(SURVIVALS.flatMap((survival) => seeds.map((seed) => cut(disk, survival, seed)[path])));
}

describe('the model of a disk', () => {
  it.each<readonly [string, readonly Given[], Readonly<Record<string, string>>]>([
    ['keeps what is synced', CREATED, { a: 'old' }],
    ['loses a write that is not synced', [...CREATED, write('a', 'new', 0)], { a: 'old' }],
    ['loses a truncation that is not synced', [...CREATED, { kind: 'truncate', path: 'a', size: 0 }], { a: 'old' }],
    ['loses a file whose folder is not synced', CREATED.slice(0, 3), {}],
    ['loses the content of a file that is not synced', [{ kind: 'create', path: 'a' }, write('a', 'x'), sync('')], { a: '' }],
    ['keeps a file that was removed without a sync of the folder', [...CREATED, { kind: 'unlink', path: 'a' }], { a: 'old' }],
    ['removes a file with a sync of the folder', [...CREATED, { kind: 'unlink', path: 'a' }, sync('')], {}],
    ['keeps the former name without a sync of the folder', [...CREATED, { kind: 'rename', from: 'a', to: 'b' }], { a: 'old' }],
    ['keeps the new name with a sync of the folder', [...CREATED, { kind: 'rename', from: 'a', to: 'b' }, sync('')], { b: 'old' }],
    ['keeps both names of a file', [...CREATED, { kind: 'link', from: 'a', to: 'b' }, sync('')], { a: 'old', b: 'old' }],
  ])('a power cut %s', (_, events, expected) => {
    expect(cut(diskAfter(...events))).toEqual(expected);
  });

  const inFolder: readonly Given[] = [{ kind: 'mkdir', path: 'f' }, { kind: 'create', path: 'f/a' }, write('f/a', 'x'), sync('f/a')];
  it.each<readonly [string, readonly Given[], Readonly<Record<string, string>>]>([
    ['is lost with its folder', [...inFolder, sync('f')], {}],
    ['is lost if only the folder above is synced', [...inFolder, sync('')], {}],
    ['is kept if both folders are synced', [...inFolder, sync('f'), sync('')], { 'f/a': 'x' }],
  ])('a file in a new folder %s', (_, events, expected) => {
    expect(cut(diskAfter(...events))).toEqual(expected);
  });

  it('leaves any of the states between the last sync and the present', () => {
    const disk = diskAfter(...CREATED, write('a', 'new', 0), { kind: 'rename', from: 'a', to: 'b' });
    expect(contents(disk, 'a')).toEqual(new Set(['old', 'new', undefined]));
    expect(contents(disk, 'b')).toEqual(new Set(['old', 'new', undefined]));
  });

  it('tears a write between sectors, and loses an earlier write although it keeps a later one', () => {
    const [one, two] = ['1'.repeat(512), '2'.repeat(512)];
    const torn = contents(diskAfter(...CREATED, write('a', one + two, 0)), 'a');
    expect(torn).toEqual(new Set(['old', one + two, one, `old${'\0'.repeat(509)}${two}`]));
    const reordered = contents(diskAfter(...CREATED, write('a', one, 0), write('a', two, 512)), 'a');
    expect(reordered).toContain(`old${'\0'.repeat(509)}${two}`);
  });

  it('a failed sync drops the changes before it, so that a later sync succeeds without them', () => {
    const disk = diskAfter(...CREATED, write('a', 'dropped', 0), { kind: 'failedSync', path: 'a' }, write('a', 'N', 0), sync('a'));
    expect(cut(disk)).toEqual({ a: 'Nld' });
  });

  it('a sync covers what was written before it began', () => {
    const disk = createDisk(new Map([['a', Buffer.from('old')]]));
    disk.apply({ kind: 'write', path: 'a', offset: 0, bytes: Buffer.from('N') }, 0);
    disk.apply({ kind: 'write', path: 'a', offset: 1, bytes: Buffer.from('W') }, 1);
    disk.apply({ kind: 'sync', path: 'a', begin: 1 }, 2);
    expect(cut(disk)).toEqual({ a: 'Nld' });
  });
});
