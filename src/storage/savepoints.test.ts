import { beforeEach, describe, expect, it } from 'vitest';
import { createLateMarks, type LateMarks } from './savepoints.ts';

describe('late marks', () => {
  let told: string[];
  let marks: LateMarks;
  beforeEach(() => {
    told = [];
    marks = createLateMarks((sql) => void told.push(sql));
  });

  it('are told when something may have to be undone, the outer before the inner', () => {
    marks.open('a');
    marks.open('b');
    expect(told).toEqual([]);
    marks.send();
    marks.send();
    expect(told).toEqual(['SAVEPOINT a', 'SAVEPOINT b']);
  });

  it('are nothing to the database where nothing was written in them', () => {
    marks.open('a');
    marks.open('b');
    marks.undo('b');
    marks.release('b');
    marks.release('a');
    marks.send();
    expect(told).toEqual([]);
  });

  it('are undone and released where it knows them, whatever it does not know within', () => {
    marks.open('a');
    marks.send();
    marks.open('b');
    marks.undo('a');
    marks.open('c');
    marks.release('a');
    marks.send();
    expect(told).toEqual(['SAVEPOINT a', 'ROLLBACK TO SAVEPOINT a', 'RELEASE SAVEPOINT a']);
  });

  it('that were undone are open still', () => {
    marks.open('a');
    marks.open('b');
    marks.undo('a');
    marks.send();
    expect(told).toEqual(['SAVEPOINT a']);
  });

  it('are over with what they were in', () => {
    marks.open('a');
    marks.forget();
    marks.send();
    expect(told).toEqual([]);
  });
});
