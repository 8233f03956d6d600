import { describe, expect, it } from 'vitest';
import { Problem } from '../errors.ts';
import type { Transaction } from '../storage/index.ts';
import { type TestRequest, toApiRequest } from './pipeline.fixture.ts';
import { findRecordLocks, lockBefore } from './record-locks.ts';

type Sent = Omit<TestRequest, 'resource'>;

const update = (id: string): Sent => ({ action: 'update', id, data: {} });
const updateIfExists = (field: string, value: string): Sent => ({
  action: 'updateIfExists',
  filter: [{ field, operator: 'eq', value }],
  data: {},
});

const itemsOf = (sent: readonly Sent[]) =>
  sent.map((each) => ({ request: toApiRequest({ resource: 'Note', ...each } as TestRequest), optional: false }));
const namesOf = (...sent: readonly Sent[]): readonly string[] => findRecordLocks(itemsOf(sent)).names;

describe('findRecordLocks', () => {
  it('finds a lock for each record that a batch changes by its id', () => {
    expect(namesOf(update('b'), { action: 'delete', id: 'a' }, updateIfExists('id', 'c'), update('b'))).toEqual([
      'record Note b',
      'record Note a',
      'record Note c',
    ]);
  });

  it('finds none for reads, creates, previews, other filters and references to earlier requests', () => {
    const others: readonly Sent[] = [
      { action: 'read', id: 'b' },
      { action: 'create', data: {} },
      { action: 'delete', id: 'c', dryRun: true },
      updateIfExists('title', 'd'),
      update('$0.id'),
    ];
    expect(namesOf(update('a'), ...others)).toEqual([]);
    expect(namesOf(update('a'), ...others, update('e'))).toEqual(['record Note a', 'record Note e']);
  });

  it('finds none for a batch that changes more records than the server has room for', () => {
    const many = Array.from({ length: 51 }, (_, index) => update(`n${index}`));
    expect(namesOf(...many.slice(1))).toHaveLength(50);
    expect(namesOf(...many)).toEqual([]);
  });
});

describe('lockBefore', () => {
  it('takes the locks once, before the first change', async () => {
    const malformed = { request: new Problem('REQUEST_MALFORMED', 'wrong'), optional: false };
    const items = [malformed, ...itemsOf([{ action: 'read', id: 'a' }, update('a'), update('b')])];
    const taken: string[] = [];
    const tx = { lock: async (...names: readonly string[]) => void taken.push(names.join(', ')) } as unknown as Transaction;
    const locks = findRecordLocks(items);
    for (const item of items) {
      await lockBefore({ tx, locks }, item);
      taken.push(item.request instanceof Problem ? 'malformed' : item.request.action);
    }
    expect(taken).toEqual(['malformed', 'read', 'record Note a, record Note b', 'update', 'update']);
  });
});
