import { isObject, type Json, type JsonObject } from '../../operators/index.ts';
import type { Definitions } from '../../resources/index.ts';
import type { Transaction } from '../contract.ts';
import { type DefinitionRow, deleteDefinitionRow, loadDefinitionRows, saveDefinitionRow } from './applied-definitions.ts';
import type { ActualTable } from './table-state.ts';

/** Renames of tables: former name → new name. */
export type TableRenames = ReadonlyMap<string, string>;

/** Returns the renames to perform: a table still has the name in `renamedFrom` of a definition, and the new name is free. */
export function findTableRenames(definitions: Definitions, actual: readonly ActualTable[]): TableRenames {
  const names = new Set(actual.map(({ name }) => name));
  const renames = new Map<string, string>();
  for (const { name, renamedFrom } of definitions.values()) {
    if (renamedFrom === undefined || !names.has(renamedFrom) || definitions.has(renamedFrom)) continue;
    if (findNameClash(names, name, renamedFrom) === undefined) renames.set(renamedFrom, name);
  }
  return renames;
}

/**
 * Returns the first of `names` that equals `name` or differs only in case: SQLite cannot hold both. Ignores `from`, which will be renamed.
 */
export function findNameClash(names: Iterable<string>, name: string, from?: string): string | undefined {
  return [...names].find((each) => each !== from && each.toLowerCase() === name.toLowerCase());
}

/** Returns the tables under their new names, so that other steps are planned as if the renames were done. */
export function renameTables(actual: readonly ActualTable[], renames: TableRenames): readonly ActualTable[] {
  return actual.map((table) => ({
    ...table,
    name: renames.get(table.name) ?? table.name,
    columns: new Map(
      [...table.columns].map(([name, column]) => {
        const { references } = column;
        return [name, references === undefined ? column : { ...column, references: renames.get(references) ?? references }];
      }),
    ),
  }));
}

/** Returns rows of `_Definition` with the new names of resources, in ids and in references. */
export function renameDefinitionRows(rows: readonly DefinitionRow[], renames: TableRenames): readonly DefinitionRow[] {
  if (renames.size === 0) return rows;
  return rows.map((row) => {
    const [name = '', ...part] = row.id.split('.');
    return { ...row, id: [renames.get(name) ?? name, ...part].join('.'), source: renameSource(row.source, renames) };
  });
}

/** Saves a rename in all rows of `_Definition`, because no other step writes the rows of archived fields and resources. */
export async function saveTableRename(tx: Transaction, from: string, to: string): Promise<void> {
  const rows = await loadDefinitionRows(tx);
  for (const [index, renamed] of renameDefinitionRows(rows, new Map([[from, to]])).entries()) {
    const row = rows[index];
    if (row === undefined || JSON.stringify(row) === JSON.stringify(renamed)) continue;
    if (row.id !== renamed.id) await deleteDefinitionRow(tx, row.id);
    await saveDefinitionRow(tx, renamed);
  }
}

/**
 * Returns the source of a definition with the new names. Leaves out `renamedFrom`: a resource can be renamed back, and a definition that
 * names itself in `renamedFrom` is invalid.
 */
function renameSource({ renamedFrom: _renamedFrom, ...source }: JsonObject, renames: TableRenames): JsonObject {
  const fields = source['fields'];
  const name = rename(source['name'], renames);
  const renamed = isObject(fields) ? Object.entries(fields).map(([field, value]) => [field, renameTarget(value, renames)] as const) : [];
  return { ...source, ...(name !== undefined && { name }), fields: Object.fromEntries(renamed) };
}

/** Returns the source of a field with the new name of the resource that the field, or the items of the list, reference. */
function renameTarget(field: Json, renames: TableRenames): Json {
  if (!isObject(field)) return field;
  const to = rename(field['to'], renames);
  const { of } = field;
  return { ...field, ...(to !== undefined && { to }), ...(of !== undefined && { of: renameTarget(of, renames) }) };
}

function rename(name: Json | undefined, renames: TableRenames): Json | undefined {
  return typeof name === 'string' ? (renames.get(name) ?? name) : name;
}
