import { SetupError } from '../../errors.ts';
import type { Field } from '../../fields/index.ts';
import type { Definitions, Resource } from '../../resources/index.ts';
import type { Transaction } from '../contract.ts';
import { type AppliedResource, loadDefinitionRows, toAppliedState } from './applied-definitions.ts';

type AppliedResources = ReadonlyMap<string, AppliedResource>;

/**
 * Refuses a database that a newer version of the program has migrated: this version would ignore the tables, fields and values of system
 * definitions that it does not know, and their data would become inconsistent with the rest.
 *
 * A version that removes one of these on purpose must leave it out of this comparison, because databases of earlier versions have it.
 *
 * @param own Definitions that include the system definitions.
 * @throws SetupError that lists everything unknown
 */
export function refuseNewerVersion(applied: AppliedResources, own: Definitions): void {
  const unknown = inForce(applied).flatMap(([name, resource]) => (isSystem(name) ? describeUnknown(name, { resource, own }) : []));
  refuse(unknown);
}

/** Refuses such a database before a restore, and one with a definition of the project that this version cannot parse. @throws SetupError */
export async function validateProgramVersion(tx: Transaction, own: Definitions): Promise<void> {
  const { resources } = toAppliedState(await loadDefinitionRows(tx));
  refuse(
    inForce(resources).flatMap(([name, resource]) => {
      if (isSystem(name)) return describeUnknown(name, { resource, own });
      return resource === undefined ? [describeUnparsed(name)] : [];
    }),
  );
}

function isSystem(name: string): boolean {
  return name.startsWith('_');
}

function refuse(unknown: readonly string[]): void {
  if (unknown.length === 0) return;
  const hint = 'use the newer version, or a backup from before the upgrade';
  throw new SetupError('the database was written by a newer version of this program; nothing was changed', [...unknown, hint]);
}

function inForce(applied: AppliedResources): readonly (readonly [name: string, resource: Resource | undefined])[] {
  return [...applied].flatMap(([name, { resource, archived }]) => (archived ? [] : [[name, resource] as const]));
}

interface StoredDefinition {
  readonly resource: Resource | undefined;
  readonly own: Definitions;
}

function describeUnknown(name: string, { resource, own }: StoredDefinition): readonly string[] {
  const known = own.get(name);
  if (known === undefined) return [`this program does not know the table ${name}`];
  if (resource === undefined) return [describeUnparsed(name)];
  return [...resource.fields].flatMap(([field, stored]) => {
    const knownField = known.fields.get(field);
    if (knownField === undefined) return [`this program does not know the field ${name}.${field}`];
    return unknownValues(stored, knownField).map(
      (value) => `this program does not know the value ${JSON.stringify(value)} of ${name}.${field}`,
    );
  });
}

function describeUnparsed(name: string): string {
  return `this program cannot parse the definition of ${name}`;
}

function unknownValues({ values = [] }: Field, known: Field): readonly string[] {
  return values.filter((value) => known.values?.includes(value) !== true);
}
