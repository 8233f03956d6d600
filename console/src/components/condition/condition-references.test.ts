import { describe, expect, it } from 'vitest';
import type { ConditionTrace } from '../decision/condition-words.ts';
import { referencesInTraces } from '../decision/trace-references.ts';
import { FOLDERS, ORGANISATIONS } from './catalogue.fixture.ts';
import { pathsFor } from './condition-paths.ts';
import { referencesInConditions } from './condition-references.ts';

const inFolders = (...conditions: readonly unknown[]) => referencesInConditions(conditions, FOLDERS, pathsFor(FOLDERS, 'Document'));

describe('referencesInConditions', () => {
  it('finds the records of hierarchies, references and users, in groups too', () => {
    const within = { field: 'resource.folderId', operator: 'within', value: ['f1', '${user.deskId}', 'f2'] };
    const self = { field: 'user.id', operator: 'eq', value: 'u1' };
    const department = { field: 'user.department', operator: 'eq', value: 'sports' };
    expect(inFolders(within, { anyOf: [{ not: within }, department] })).toEqual(
      ['f1', 'f2', 'f1', 'f2'].map((id) => ({ resource: 'Folder', id })),
    );
    expect(inFolders(self)).toEqual([]);
    const author = { field: 'resource.readerIds', operator: 'has', value: 'u1' };
    expect(referencesInConditions([author], ORGANISATIONS, pathsFor(ORGANISATIONS, 'Document'))).toEqual([{ resource: 'User', id: 'u1' }]);
  });

  it('finds those in the links and conditions of related records', () => {
    const related = {
      ...{ resource: 'Membership', as: 'm', on: { userId: 'u1', organisationId: '${resource.organisationId}' } },
      where: [{ field: 'm.organisationId', operator: 'in', value: ['o1', 'o2'] }],
    };
    expect(referencesInConditions([{ related }], ORGANISATIONS, pathsFor(ORGANISATIONS, 'Document'))).toEqual([
      { resource: 'User', id: 'u1' },
      { resource: 'Organisation', id: 'o1' },
      { resource: 'Organisation', id: 'o2' },
    ]);
  });

  it('finds none in conditions that cannot be read', () => {
    expect(inFolders('text', { expression: 'user.id = "u1"' }, { field: 7 }, null)).toEqual([]);
  });
});

describe('referencesInTraces', () => {
  const trace = (members: Partial<ConditionTrace>): ConditionTrace => ({ type: 'comparison', answer: 'false', ...members });

  it('finds the ancestors that were compared, and the records that paths refer to', () => {
    const within = trace({
      ...{ field: 'resource.folderId', operator: 'within', actual: 'f3', expected: ['f1'] },
      ancestors: { resource: 'Folder', ids: ['f3', 'f2'], end: 'root' },
    });
    const open = trace({ field: 'resource.folderId', operator: 'within', answer: 'open', expected: ['f4'] });
    const other = trace({ field: 'user.department', actual: 'sports', expected: 'politics' });
    const group: ConditionTrace = { type: 'any', answer: 'false', of: [within, { type: 'not', answer: 'open', of: open }, other] };
    expect(referencesInTraces([{ trace: group, resource: 'Document' }], FOLDERS.definitions)).toEqual(
      ['f3', 'f1', 'f3', 'f2', 'f4'].map((id) => ({ resource: 'Folder', id })),
    );
  });
});
