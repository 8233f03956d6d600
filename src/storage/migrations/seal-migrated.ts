import type { Resource } from '../../resources/index.ts';
import { eachChecked, hasChecksums, isIntactRecord, removeSeals, storeChecksums } from '../checksums/record-checksums.ts';
import { CHECKSUM } from '../checksums/row-content.ts';
import type { Transaction } from '../contract.ts';
import { SEALED_TABLES, sealTable } from '../policies/seal-tables.ts';
import type { SelectedSteps } from './select-steps.ts';

/**
 * Performs the steps of a migration and writes the checksums that it changes. The migration that adds the checksums of a table or resource
 * writes those of all its rows; no later one does, so a row without a checksum is damaged from then on. A migration that changes a resource
 * with checksums writes those of its records. Records that were damaged before stay damaged. A resource that is archived, or no longer has
 * `checksum`, has no checksums.
 */
export async function withChecksums(tx: Transaction, selected: SelectedSteps, perform: () => Promise<void>): Promise<void> {
  const { steps, before, definitions } = selected;
  if (!definitions.has('_RecordChecksum')) return perform();
  const isNew = steps.some(({ resource, kind }) => resource === '_RecordChecksum' && kind === 'createTable');
  const sealed = isNew ? [] : [...before.values()].filter(hasChecksums);
  const formerOf = (resource: Resource): Resource | undefined => {
    const name = [...selected.renames.tables].find(([, to]) => to === resource.name)?.[0] ?? resource.name;
    return sealed.find((each) => each.name === name);
  };
  const changed: ChangedResource[] = [];
  for (const resource of [...definitions.values()].filter(hasChecksums)) {
    const former = formerOf(resource);
    if (former?.hash === resource.hash && !steps.some((step) => step.resource === resource.name)) continue;
    changed.push({ resource, damaged: former === undefined ? NONE : await findDamaged(tx, former) });
  }
  await perform();
  for (const former of sealed) if (definitions.get(former.name)?.checksum !== former.checksum) await removeSeals(tx, former);
  for (const each of changed) await sealChanged(tx, each);
  for (const table of SEALED_TABLES) {
    if (steps.some(({ resource, field }) => resource === table.name && field === CHECKSUM)) await sealTable(tx, table);
  }
}

/** A resource with checksums that a migration changes, and the ids of its records that were damaged before. */
interface ChangedResource {
  readonly resource: Resource;
  readonly damaged: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

async function findDamaged(tx: Transaction, resource: Resource): Promise<ReadonlySet<string>> {
  const damaged = new Set<string>();
  await eachChecked(tx, resource, (rows) => {
    for (const row of rows) if (!isIntactRecord(resource, row)) damaged.add(String(row['id']));
  });
  return damaged;
}

async function sealChanged(tx: Transaction, { resource, damaged }: ChangedResource): Promise<void> {
  await eachChecked(tx, resource, (rows) =>
    storeChecksums(
      tx,
      resource,
      rows.filter(({ id }) => !damaged.has(String(id))),
    ),
  );
}
