import { describe, expect, it } from 'vitest';
import { createField } from '../../../components/record-form/field.fixture.ts';
import { commonFields, toConsequences, toOutcome, toRequests } from './bulk-change.ts';

const rows = [{ id: 'a', version: 3 }, { id: 'b' }];

describe('a change of several records', () => {
  it('is one request for each record, in the version that was seen', () => {
    expect(toRequests('Note', rows, { action: 'update', values: { status: 'done' } })).toEqual([
      { resource: 'Note', action: 'update', id: 'a', data: { status: 'done' }, ifMatch: 3 },
      { resource: 'Note', action: 'update', id: 'b', data: { status: 'done' } },
    ]);
    expect(toRequests('Note', rows.slice(0, 1), { action: 'delete' })).toEqual([
      { resource: 'Note', action: 'delete', id: 'a', ifMatch: 3 },
    ]);
  });

  it('has an outcome for each record, also for one without a result', () => {
    const error = { title: 'Forbidden', status: 403, code: 'ACCESS_DENIED', detail: 'no rule allows it' };
    const three = [...rows, { id: 'c' }];
    const outcome = toOutcome('delete', three, [
      { success: true, data: null },
      { success: false, error, decisionId: '7' },
    ]);
    expect(outcome.changed).toEqual([rows[0]]);
    expect(outcome.refused).toMatchObject([
      { row: { id: 'b' }, problem: error, decisionId: '7' },
      { row: { id: 'c' }, problem: { code: 'UNKNOWN' } },
    ]);
  });

  it('offers the fields that may have the same value in several records', () => {
    const fields = [
      createField({ name: 'status' }),
      createField({ name: 'slug', unique: true }),
      createField({ name: 'id', readOnly: true }),
      createField({ name: 'owner', immutable: true }),
      createField({ name: 'secret', type: 'password', writeOnly: true }),
    ];
    expect(commonFields(fields).map(({ name }) => name)).toEqual(['status']);
  });

  it('adds the records that its deletions reach, without those of a deletion that would be refused', () => {
    const comments = (count: number) => ({ resource: 'Comment', field: 'articleId', count });
    const image = { resource: 'Image', field: 'articleId', count: 1 };
    const run = { permanent: true, deleted: [comments(2)], cleared: [], refused: [] };
    const problem = { title: 'Conflict', code: 'RECORD_REFERENCED' };
    const three = [...rows, { id: 'c' }];
    const { deleted, cleared, refused } = toConsequences(three, [
      { success: true, data: run },
      { success: true, data: { ...run, deleted: [comments(3)], cleared: [image] } },
      { success: true, data: { ...run, problem } },
    ]);
    expect([deleted, cleared]).toEqual([[comments(5)], [image]]);
    expect(refused).toMatchObject([{ row: { id: 'c' }, problem }]);
  });
});
