import type { Resource } from '../../resources/index.ts';
import { SYSTEM } from '../../resources/system/index.ts';
import { eachChecked, storeChecksums } from '../checksums/record-checksums.ts';
import type { Transaction } from '../contract.ts';
import { SEALED_TABLES, sealTable } from './seal-tables.ts';

/** Writes every checksum, after a test has changed rows with SQL as an older version of the program would have left them. */
export async function sealAll(tx: Transaction, user: Resource | undefined = SYSTEM.get('User')): Promise<void> {
  if (user === undefined) throw new Error('no User');
  await eachChecked(tx, user, (rows) => storeChecksums(tx, user, rows));
  for (const table of SEALED_TABLES) await sealTable(tx, table);
}
