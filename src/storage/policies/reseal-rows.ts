/** Accepts damaged rows as they are: writes new checksums, and versions of the policies and assignments. */
import type { DamagedRow, Policy, RolePolicy, UserPolicy } from '../../authz/policies/index.ts';
import type { Resource } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import { toDamagedRow } from '../checksums/damaged-rows.ts';
import { eachChecked, isIntactRecord, removalOfLostSeals, storeChecksums } from '../checksums/record-checksums.ts';
import { isIntact } from '../checksums/row-checksums.ts';
import type { TableRow } from '../checksums/row-content.ts';
import { loadChecksummed } from '../checksums/verify-rows.ts';
import type { Transaction } from '../contract.ts';
import { type HistoryKind, storeVersion } from './policy-history.ts';
import { toPolicy } from './policy-rows.ts';
import { deleteFrom, POLICY_TABLES, replaceIn, toValue } from './policy-tables.ts';
import { advanceRevision, lockPolicies } from './revision.ts';
import { eachPage, sealRows } from './seal-tables.ts';

/**
 * Writes the checksums of all damaged rows, after an operator has checked or changed them with SQL. Policies and assignments that differ
 * from their last version get a new version, at a new revision; those that are no longer stored get a version that ends them. Returns
 * the rows.
 *
 * @throws Problem STORAGE_DAMAGED if a row cannot be parsed; nothing is changed then.
 */
export async function resealRows(tx: Transaction, by: string): Promise<readonly DamagedRow[]> {
  await lockPolicies(tx);
  // An assignment without its policy can never apply; the changes below end its version.
  for (const table of [POLICY_TABLES.rolePolicy, POLICY_TABLES.userPolicy])
    await deleteFrom(tx, table, sql`NOT EXISTS (SELECT 1 FROM "_Policy" WHERE "_Policy"."id" = "policyId")`);
  const changes = [
    ...(await findChanges(tx, 'policy', POLICY_TABLES.policy)),
    ...(await findChanges(tx, 'rolePolicy', POLICY_TABLES.rolePolicy)),
    ...(await findChanges(tx, 'userPolicy', POLICY_TABLES.userPolicy)),
  ];
  const revision = changes.length === 0 ? 0 : await advanceRevision(tx);
  for (const change of changes) await storeChange(tx, change, { revision, by });
  const damaged = [...changes.map((change) => change.damaged), ...(await resealHistory(tx))];
  for (const resource of await loadChecksummed(tx)) damaged.push(...(await resealRecords(tx, resource)));
  return damaged;
}

interface Reseal {
  readonly kind: HistoryKind;
  readonly damaged: DamagedRow;
  /** The stored row; undefined if it is missing. */
  readonly stored: TableRow | undefined;
  readonly userId?: string | undefined;
  readonly policyId?: string | undefined;
}

async function findChanges(tx: Transaction, kind: HistoryKind, table: Resource): Promise<readonly Reseal[]> {
  const found: Reseal[] = [];
  const versions = await tx.all<Record<'userId' | 'policyId', string | null> & { readonly subjectId: string }>(sql`
    SELECT "subjectId", "userId", "policyId" FROM "_PolicyHistory" WHERE "kind" = ${kind} AND "toEpoch" IS NULL AND "value" IS NOT NULL`);
  const inForce = new Map(versions.map((version) => [version.subjectId, version]));
  await eachPage(tx, table, async (rows) => {
    for (const stored of rows) {
      const id = String(stored.row['id']);
      if (!isIntact(stored) || !inForce.has(id)) found.push({ kind, stored, damaged: toDamagedRow(stored) });
      inForce.delete(id);
    }
  });
  const missing = [...inForce].map(([id, { userId, policyId }]) => ({
    kind,
    userId: userId ?? undefined,
    policyId: policyId ?? undefined,
    stored: undefined,
    damaged: { table: table.name, id, isMissing: true as const },
  }));
  return [...found, ...missing];
}

async function storeChange(
  tx: Transaction,
  { kind, stored, damaged: { id }, userId, policyId }: Reseal,
  change: { readonly revision: number; readonly by: string },
): Promise<void> {
  if (stored === undefined) return storeVersion(tx, { kind, id, userId, policyId, value: undefined, ...change });
  const loaded = kind === 'policy' ? toPolicy(stored) : toValue<UserPolicy | RolePolicy>(stored);
  const value: Policy | UserPolicy | RolePolicy = { ...loaded, version: change.revision };
  await replaceIn(tx, stored.table, value);
  const policy = 'policyId' in value ? value.policyId : id;
  await storeVersion(tx, { kind, id, policyId: policy, value, ...('userId' in value && { userId: value.userId }), ...change });
}

async function resealHistory(tx: Transaction): Promise<readonly DamagedRow[]> {
  const damaged: DamagedRow[] = [];
  await eachPage(tx, POLICY_TABLES.history, async (rows) => {
    const broken = rows.filter((row) => !isIntact(row));
    damaged.push(...broken.map(toDamagedRow));
    await sealRows(tx, broken);
  });
  return damaged;
}

async function resealRecords(tx: Transaction, resource: Resource): Promise<readonly DamagedRow[]> {
  const damaged: DamagedRow[] = [];
  await eachChecked(tx, resource, async (rows) => {
    const broken = rows.filter((row) => !isIntactRecord(resource, row));
    damaged.push(...broken.map((row) => toDamagedRow({ table: resource, row })));
    await storeChecksums(tx, resource, broken);
  });
  await tx.run(removalOfLostSeals(resource));
  return damaged;
}
