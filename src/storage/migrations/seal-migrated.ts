import type { Resource } from '../../resources/index.ts';
import type { Transaction } from '../contract.ts';
import { eachChecked, isIntactRecord, storeChecksums } from '../record-checksums.ts';
import { CHECKSUM } from '../row-checksums.ts';
import { SEALED_TABLES, sealTable } from '../seal-tables.ts';
import type { SelectedSteps } from './select-steps.ts';

/**
 * Performs the steps of a migration and writes the checksums that it changes. The migration that adds the checksums writes those of all
 * rows; no later one does, so a row without a checksum is damaged from then on. A migration that changes `User` writes those of the users.
 * Users that were damaged before stay damaged.
 */
export async function withChecksums(tx: Transaction, selected: SelectedSteps, perform: () => Promise<void>): Promise<void> {
  const { steps, before, definitions } = selected;
  if (!definitions.has('_RecordChecksum')) return perform();
  const isNew = steps.some(({ resource, kind }) => resource === '_RecordChecksum' && kind === 'createTable');
  const [userBefore, user] = [before.get('User'), definitions.get('User')];
  const changesUsers = isNew || userBefore?.hash !== user?.hash || steps.some(({ resource }) => resource === 'User');
  const damaged = isNew || userBefore === undefined || !changesUsers ? new Set<string>() : await findDamagedUsers(tx, userBefore);
  await perform();
  if (user !== undefined && changesUsers) {
    await eachChecked(tx, user, (rows) =>
      storeChecksums(
        tx,
        user,
        rows.filter(({ id }) => !damaged.has(String(id))),
      ),
    );
  }
  for (const table of SEALED_TABLES) {
    if (steps.some(({ resource, field }) => resource === table.name && field === CHECKSUM)) await sealTable(tx, table);
  }
}

async function findDamagedUsers(tx: Transaction, user: Resource): Promise<ReadonlySet<string>> {
  const damaged = new Set<string>();
  await eachChecked(tx, user, (rows) => {
    for (const row of rows) if (!isIntactRecord(user, row)) damaged.add(String(row['id']));
  });
  return damaged;
}
