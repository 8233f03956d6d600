import { isObject, type Json, type JsonObject } from '../../operators/index.ts';
import type { Definitions } from '../../resources/index.ts';
import type { Transaction } from '../contract.ts';
import { type DefinitionRow, deleteDefinitionRow, loadDefinitionRows, saveDefinitionRow } from './applied-definitions.ts';
import type { ActualTable } from './table-state.ts';

/** Renames of tables: former name → new name. */
export type TableRenames = ReadonlyMap<string, string>;

/** Returns the tables that still have the name in `renamedFrom` of a definition. */
export function findTableRenames(definitions: Definitions, actual: readonly ActualTable[]): TableRenames {
  const names = new Set(actual.map(({ name }) => name));
  const renames = new Map<string, string>();
  for (const { name, renamedFrom } of definitions.values()) {
    if (renamedFrom === undefined || !names.has(renamedFrom) || definitions.has(renamedFrom)) continue;
    if (findNameClash(names, name, renamedFrom) === undefined) renames.set(renamedFrom, name);
  }
  return renames;
}

/** Returns the name among `names` that equals `name` except for case; SQLite cannot hold both. `from` is about to be renamed and ignored. */
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

/** Saves a rename in the rows of `_Definition`. Those of archived fields and resources are not written by any other step. */
export async function saveTableRename(tx: Transaction, from: string, to: string): Promise<void> {
  const rows = await loadDefinitionRows(tx);
  for (const [index, renamed] of renameDefinitionRows(rows, new Map([[from, to]])).entries()) {
    const row = rows[index];
    if (row === undefined || JSON.stringify(row) === JSON.stringify(renamed)) continue;
    if (row.id !== renamed.id) await deleteDefinitionRow(tx, row.id);
    await saveDefinitionRow(tx, renamed);
  }
}

/** Leaves out `renamedFrom`: a resource can be renamed back, and a definition that names itself in `renamedFrom` is invalid. */
function renameSource({ renamedFrom: _renamedFrom, ...source }: JsonObject, renames: TableRenames): JsonObject {
  const fields = source['fields'];
  const name = rename(source['name'], renames);
  const renamed = isObject(fields) ? Object.entries(fields).map(([field, value]) => [field, renameTarget(value, renames)] as const) : [];
  return { ...source, ...(name !== undefined && { name }), fields: Object.fromEntries(renamed) };
}

/** Renames the target of a reference, also in the items of a list. */
function renameTarget(field: Json, renames: TableRenames): Json {
  if (!isObject(field)) return field;
  const to = rename(field['to'], renames);
  const { of } = field;
  return { ...field, ...(to !== undefined && { to }), ...(of !== undefined && { of: renameTarget(of, renames) }) };
}

function rename(name: Json | undefined, renames: TableRenames): Json | undefined {
  return typeof name === 'string' ? (renames.get(name) ?? name) : name;
}
