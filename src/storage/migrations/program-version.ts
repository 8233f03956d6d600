import { SetupError } from '../../errors.ts';
import type { Definitions } from '../../resources/index.ts';
import type { Transaction } from '../contract.ts';
import { type DefinitionRow, loadDefinitionRows, toAppliedState } from './applied-definitions.ts';

/**
 * Refuses a database that a newer version of the program has worked on: of what that keeps, this one knows nothing, and would leave it
 * as it was while everything else goes on.
 *
 * @param own The program's own definitions are among these.
 * @throws SetupError with everything that is not understood.
 */
export async function validateProgramVersion(tx: Transaction, own: Definitions): Promise<void> {
  const rows = (await loadDefinitionRows(tx)).filter(({ keptAside }) => !keptAside);
  const { resources } = toAppliedState(rows);
  const strange = rows.flatMap((row) => {
    const resource = resources.get(row.id)?.resource;
    if (resource === undefined) return [`the definition of ${row.id} says what this program cannot read`];
    return row.id.startsWith('_') ? unknownOf(row, resource.fields.keys(), own) : [];
  });
  if (strange.length > 0) throw new SetupError('it was written by a newer version of this program', strange);
}

function unknownOf({ id }: DefinitionRow, fields: Iterable<string>, own: Definitions): readonly string[] {
  const known = own.get(id);
  if (known === undefined) return [`${id} is a table that this program does not know`];
  return [...fields].filter((name) => !known.fields.has(name)).map((name) => `${id}.${name} is a field that this program does not know`);
}
