import { describe, expect, it } from 'vitest';
import { FOLDERS } from './catalogue.fixture.ts';
import { readCondition, writeCondition } from './condition-json.ts';
import { findPath, pathsFor, relatedPathsFor } from './condition-paths.ts';
import { describeConditions } from './condition-sentences.ts';
import { initialValue, keepValue, operandForm, operatorsFor, suggestReference, toIds } from './operand-forms.ts';

const WITHIN = FOLDERS.operators.find(({ name }) => name === 'within');
const documents = pathsFor(FOLDERS, 'Document');
const folders = pathsFor(FOLDERS, 'Folder');
const grants = relatedPathsFor(FOLDERS, 'Grant', 'g');

describe('the form of a condition on ancestors', () => {
  it.each([
    ['resource.folderId', documents],
    ['resource.folderId.id', documents],
    ['resource.folderId.parentId.parentId', documents],
    ['resource.id', folders],
    ['resource.parentId', folders],
    ['user.deskId', documents],
    ['user.deskId.parentId', documents],
    ['g.folderId', grants],
    // Of all resources, only folders have a hierarchy.
    ['resource.id', pathsFor(FOLDERS, '*')],
  ] as const)('is offered for %s', (path, options) => {
    const option = findPath(options, path);
    expect(option?.hierarchy).toBe('Folder');
    expect(operatorsFor(FOLDERS, option).map(({ name }) => name)).toContain('within');
  });

  it.each([
    ['resource.id', documents],
    ['resource.otherIds', documents],
    ['resource.folderId.name', documents],
    ['user.id', documents],
    ['user.rootFolderIds', documents],
    ['user.claims.folder', documents],
    ['request.data.folderId', documents],
    ['g.id', grants],
  ] as const)('is not offered for %s, which identifies no record of a hierarchy', (path, options) =>
    expect(operatorsFor(FOLDERS, findPath(options, path)).map(({ name }) => name)).not.toContain('within'),
  );

  it('is not offered on all resources for a field that leads to several hierarchies', () => {
    const fields = FOLDERS.definitions.find(({ name }) => name === 'Folder')?.fields ?? [];
    const topic = { name: 'Topic', fields: fields.map((each) => (each.name === 'parentId' ? { ...each, to: 'Topic' } : each)) } as never;
    const both = { ...FOLDERS, definitions: [...FOLDERS.definitions, topic] };
    expect(findPath(pathsFor(both, '*'), 'resource.parentId')?.hierarchy).toBeUndefined();
    expect(findPath(pathsFor(both, 'Topic'), 'resource.parentId')?.hierarchy).toBe('Topic');
  });

  it.each([
    ['0190', 'records'],
    [['a', '${user.deskId}'], 'records'],
    [[], 'records'],
    ['${user.rootFolderIds}', 'reference'],
    [['a', 7], 'json'],
    [{ id: 'a' }, 'json'],
  ])('shows the value %j by the editor %s', (value, form) =>
    expect(operandForm(WITHIN, findPath(documents, 'resource.folderId'), value)).toBe(form),
  );

  it('begins without records, and keeps the id of another operator', () => {
    const folder = findPath(documents, 'resource.folderId');
    expect(initialValue(WITHIN, folder)).toEqual([]);
    expect(keepValue(WITHIN, folder, '0190')).toBe('0190');
    expect([toIds('0190'), toIds(''), toIds(['a', 'b'])]).toEqual([['0190'], [], ['a', 'b']]);
  });

  it('suggests a path to folders of another part of the request', () => {
    expect(suggestReference(documents, findPath(documents, 'resource.folderId'))).toBe('${user.deskId}');
    expect(suggestReference([...grants, ...documents], findPath(documents, 'resource.folderId'))).toBe('${g.folderId}');
    expect(suggestReference(documents, findPath(documents, 'resource.createdBy'))).toBe('${user.id}');
  });

  it('keeps the condition exactly, and describes it', () => {
    const condition = { field: 'resource.folderId', operator: 'within', value: '${user.rootFolderIds}', ifExists: true };
    const form = readCondition(condition);
    expect(writeCondition(form)).toEqual(condition);
    const vocabulary = { operators: FOLDERS.operators, names: { a: 'Handbook' } };
    expect(describeConditions([condition], vocabulary)).toBe('resource.folderId is within user.rootFolderIds (false if missing)');
    expect(describeConditions([{ ...condition, value: ['a', 'b'] }], vocabulary)).toContain('is within Handbook, "b"');
  });
});
