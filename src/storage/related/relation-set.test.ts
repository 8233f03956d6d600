import { beforeEach, describe, expect, it } from 'vitest';
import { define, resourceOf } from '../storage.fixture.ts';
import type { ListRead, RecordWrite, RelatedRead } from './relation-reads.ts';
import { createRelationSet, type RelationSetBuilder } from './relation-set.ts';

const definitions = define({ Task: { fields: { projectId: { type: 'string' }, points: { type: 'integer' } } } });
const task = resourceOf(definitions, 'Task');

const KEY = 'related Task [["projectId","p1"]]';
const link = (value: string): RelatedRead['links'][number] => ({ field: 'projectId', type: 'text', value, isText: true });
const related = (ids: readonly string[], more: Partial<RelatedRead> = {}): RelatedRead => ({
  resource: task,
  links: [link('p1')],
  stamps: new Map(ids.map((id) => [id, `1 of ${id}`])),
  isTruncated: false,
  ...more,
});
const write = (id: string, more: Partial<RecordWrite> = {}): RecordWrite => ({
  resource: 'Task',
  id,
  before: `1 of ${id}`,
  keysBefore: [KEY],
  keys: [KEY],
  ...more,
});
const listed = (...ids: readonly string[]): ListRead['records'] => ids.map((id) => ({ id, version: 1 }));
const listOf = (ids: readonly string[], dependsOn: readonly string[] = []): ListRead => ({
  resource: task,
  records: listed(...ids),
  dependsOn: new Set(dependsOn),
  toComparison: () => ({}) as never,
  needsScans: () => false,
});

let set: RelationSetBuilder;
beforeEach(() => {
  set = createRelationSet();
});

describe('reads', () => {
  it('an empty set is undefined', () => {
    expect(set.build()).toBeUndefined();
  });

  it('equal reads are kept once, and read the key of their links', () => {
    for (let times = 0; times < 3; times++) expect(set.addReads({ related: [related(['a', 'b'])] })).toBe(true);
    const built = set.build();
    expect(built?.related).toMatchObject([{ key: KEY, expected: 'a 1 of a,b 1 of b', maximum: 3 }]);
    expect(built?.readKeys).toEqual(new Set([KEY]));
  });

  it('reads of one record in two states contradict each other', () => {
    expect(set.addReads({ records: [{ resource: task, id: 'a', stamp: '1' }] })).toBe(true);
    expect(set.addReads({ records: [{ resource: task, id: 'a', stamp: '1' }] })).toBe(true);
    expect(set.addReads({ records: [{ resource: task, id: 'a', stamp: null }] })).toBe(false);
  });

  it('a truncated read only expects as many records', () => {
    set.addReads({ related: [related(['a', 'b', 'c'], { isTruncated: true })] });
    set.addWrite(write('b'));
    expect(set.build()?.related).toMatchObject([{ isTruncated: true, expected: '2', maximum: 2 }]);
  });

  it('a value of another type than text is no part of the key', () => {
    set.addReads({ related: [related([], { links: [link('p1'), { field: 'points', type: 'integer', value: 3, isText: false }] })] });
    expect(set.build()?.related[0]?.key).toBe('related Task [["points"],["projectId","p1"]]');
  });

  it('a list reads every key', () => {
    set.addReads({ lists: [listOf(['a', 'b'])] });
    expect(set.build()).toMatchObject({ readKeys: 'all', lists: [{ records: listed('a', 'b') }] });
  });

  it('more than 100,000 records are refused', () => {
    const many = Array.from({ length: 60_000 }, (_, index) => `r${index}`);
    set.addReads({ related: [related(many)] });
    expect(() => set.addReads({ related: [related(many, { links: [link('p2')] })] })).toThrow('more than 100000 other records');
  });
});

describe('writes', () => {
  it('the records that the unit of work writes are not compared', () => {
    set.addReads({ related: [related(['a', 'b'])], records: [{ resource: task, id: 'a', stamp: '1 of a' }] });
    expect(set.addWrite(write('a'))).toBe(true);
    expect(set.addWrite(write('c', { before: null, keysBefore: [] }))).toBe(true);
    expect(set.build()).toMatchObject({ related: [{ expected: 'b 1 of b', maximum: 2 }], records: new Map(), writeKeys: new Set([KEY]) });
    expect(set.build()?.written.get('Task')).toEqual(new Set(['a', 'c']));
  });

  it('a write replaces the state that was read', () => {
    set.addReads({ related: [related(['a', 'b'])] });
    expect(set.addWrite(write('a', { before: '2 of a' }))).toBe(false);
  });

  it('a write replaces no related record that was not read', () => {
    set.addReads({ related: [related(['a'])] });
    expect(set.addWrite(write('b'))).toBe(false);
    expect(createRelationSet().addWrite(write('b'))).toBe(true);
  });

  it('a write of a record of other links does not contradict a read', () => {
    set.addReads({ related: [related(['a'])] });
    expect(set.addWrite(write('b', { keysBefore: ['related Task [["projectId","p2"]]'] }))).toBe(true);
  });

  it('the second write of a record replaces the state of the first one', () => {
    set.addReads({ related: [related(['a'])] });
    expect([set.addWrite(write('a')), set.addWrite(write('a', { before: '2 of a' }))]).toEqual([true, true]);
  });

  it('a rollback undoes writes', () => {
    set.addReads({ related: [related(['a'])] });
    const { mark } = set;
    set.addWrite(write('a'));
    set.undoTo(mark);
    expect(set.build()).toMatchObject({ related: [{ expected: 'a 1 of a' }], writeKeys: new Set() });
    expect(set.addWrite(write('a', { before: '2 of a' }))).toBe(false);
  });

  it('a write of unknown keys writes every key', () => {
    set.addWrite(write('a', { before: undefined, keys: 'all' }));
    expect(set.build()?.writeKeys).toBe('all');
  });

  it('a write of records on which an earlier list depends needs a transaction that blocks writers', () => {
    set.addReads({ lists: [listOf(['a'], ['Project'])] });
    set.addWrite(write('b'));
    expect(set.needsBlocking).toBe(false);
    set.addWrite(write('p', { resource: 'Project' }));
    expect(set.needsBlocking).toBe(true);
  });

  it('a list is compared without the records that are written after it', () => {
    set.addWrite(write('a'));
    set.addReads({ lists: [listOf(['a', 'b', 'c'])] });
    set.addWrite(write('b'));
    expect(set.build()?.lists).toMatchObject([{ records: listed('a', 'c') }]);
  });
});
