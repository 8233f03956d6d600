import { isObject, type Json, type JsonObject } from '../../operators/index.ts';
import type { Definitions } from '../../resources/index.ts';
import type { Transaction } from '../contract.ts';
import { type DefinitionRow, deleteDefinitionRow, loadDefinitionRows, saveDefinitionRow } from './applied-definitions.ts';
import type { ActualTable } from './table-state.ts';

/** Tables that are to have another name: name before → name after. */
export type TableRenames = ReadonlyMap<string, string>;

/** The tables that definitions say are theirs under another name, and that are still there under it. */
export function findTableRenames(definitions: Definitions, actual: readonly ActualTable[]): TableRenames {
  const names = new Set(actual.map(({ name }) => name));
  const renames = new Map<string, string>();
  for (const { name, renamedFrom } of definitions.values()) {
    if (renamedFrom === undefined || !names.has(renamedFrom) || definitions.has(renamedFrom)) continue;
    if (findNameClash(names, name, renamedFrom) === undefined) renames.set(renamedFrom, name);
  }
  return renames;
}

/** What already has a name that something is to be called, or one that differs only in case: no database holds both. */
export function findNameClash(names: Iterable<string>, name: string, from?: string): string | undefined {
  return [...names].find((each) => each !== from && each.toLowerCase() === name.toLowerCase());
}

/** Tables as they will be called: whatever is planned beside a rename is planned as though it were done. */
export function renameTables(actual: readonly ActualTable[], renames: TableRenames): readonly ActualTable[] {
  return actual.map((table) => ({
    ...table,
    name: renames.get(table.name) ?? table.name,
    columns: new Map(
      [...table.columns].map(([name, column]) => {
        const refers = column.refers === undefined ? undefined : (renames.get(column.refers) ?? column.refers);
        return [name, { ...column, ...(refers !== undefined && { refers }) }];
      }),
    ),
  }));
}

/** What is on the record about definitions, under the new names: of resources, and of what references point to. */
export function renameDefinitionRows(rows: readonly DefinitionRow[], renames: TableRenames): readonly DefinitionRow[] {
  if (renames.size === 0) return rows;
  return rows.map((row) => {
    const [name = '', ...part] = row.id.split('.');
    return { ...row, id: [renames.get(name) ?? name, ...part].join('.'), source: renameSource(row.source, renames) };
  });
}

/** The same on the record itself. What is in force is written anew anyway; what is kept aside has nobody else to do it. */
export async function saveTableRename(tx: Transaction, from: string, to: string): Promise<void> {
  const rows = await loadDefinitionRows(tx);
  for (const [index, renamed] of renameDefinitionRows(rows, new Map([[from, to]])).entries()) {
    const row = rows[index];
    if (row === undefined || JSON.stringify(row) === JSON.stringify(renamed)) continue;
    if (row.id !== renamed.id) await deleteDefinitionRow(tx, row.id);
    await saveDefinitionRow(tx, renamed);
  }
}

/** Without the name from before that: should it be the new one again, the definition would say that it comes from itself. */
function renameSource({ renamedFrom: _renamedFrom, ...source }: JsonObject, renames: TableRenames): JsonObject {
  const fields = source['fields'];
  const name = rename(source['name'], renames);
  const renamed = isObject(fields) ? Object.entries(fields).map(([field, value]) => [field, renameTarget(value, renames)] as const) : [];
  return { ...source, ...(name !== undefined && { name }), fields: Object.fromEntries(renamed) };
}

/** In a field, and in the item of a list. */
function renameTarget(field: Json, renames: TableRenames): Json {
  if (!isObject(field)) return field;
  const to = rename(field['to'], renames);
  const { of } = field;
  return { ...field, ...(to !== undefined && { to }), ...(of !== undefined && { of: renameTarget(of, renames) }) };
}

function rename(name: Json | undefined, renames: TableRenames): Json | undefined {
  return typeof name === 'string' ? (renames.get(name) ?? name) : name;
}
