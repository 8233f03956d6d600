import { describe, expect, it } from 'vitest';
import { changeOf, describeStep, partOf, type Step, toResourceChanges } from './plan-changes.ts';

const step = (resource: string, kind: string, field?: string): Step => ({
  ...{ resource, kind, reason: '', risk: 'safe', sql: [] },
  ...(field !== undefined && { field }),
});

describe('the diff of a plan', () => {
  it.each([
    ['addColumn', 'added'],
    ['keepAside', 'removed'],
    ['dropColumn', 'removed'],
    ['renameColumn', 'changed'],
    ['convert', 'changed'],
    ['stay', 'kept'],
  ])('the step %s is shown as %s', (kind, change) => expect(changeOf({ kind })).toBe(change));

  it.each([
    ['User', undefined, 'User is new', 'User is new'],
    ['User', 'name', 'User.name is new', 'User.name is new'],
    ['User', undefined, 'the index on User (email) is no longer defined', 'the index on User (email) is no longer defined'],
    ['Note', undefined, 'Notebook is new', 'Note: Notebook is new'],
    ['*', undefined, 'a backup was written first: backup.db', 'a backup was written first: backup.db'],
  ])('the step on %s %s with the reason "%s" is described as "%s"', (resource, field, reason, text) =>
    expect(describeStep({ resource, reason, ...(field !== undefined && { field }) })).toBe(text),
  );

  it('names the part of the resource that a step changes', () => {
    expect([step('A', 'addColumn', 'x'), step('A', 'createIndex', 'x'), step('A', 'createTable')].map(partOf)).toEqual([
      'field',
      'index',
      'table',
    ]);
  });

  it('a resource is added or removed with its table, and changed with its fields', () => {
    const steps = [
      ...[step('New', 'createTable'), step('New', 'createIndex')],
      ...[step('Old', 'keepAside'), step('Kept', 'stay')],
      ...[step('Article', 'keepAside', 'legacy'), step('Article', 'createIndex'), step('Moved', 'renameTable')],
    ];
    expect(toResourceChanges(steps).map(({ resource, change, steps: own }) => [resource, change, own.length])).toEqual([
      ['New', 'added', 2],
      ['Old', 'removed', 1],
      ['Kept', 'kept', 1],
      ['Article', 'changed', 2],
      ['Moved', 'changed', 1],
    ]);
  });
});
