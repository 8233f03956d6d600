import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { Policy, PolicyState, RolePolicy, UserPolicy } from '../policy/index.ts';
import type { Transaction } from './database.ts';
import { insertInto, POLICY_TABLES, selectFrom } from './policy-tables.ts';

/** What has versions. */
export type HistoryKind = 'policy' | 'userPolicy' | 'rolePolicy';

/** One change of a policy or an assignment. */
export interface Version {
  readonly kind: HistoryKind;
  readonly id: string;
  /** As it is from now on; undefined where it was deleted. */
  readonly value: Policy | UserPolicy | RolePolicy | undefined;
  /** The epoch that the change began. */
  readonly epoch: number;
  /** User id of whoever changed it. */
  readonly by: string;
}

/** Keeps a version: the one in force until now ends with its epoch, the new one begins. */
export async function keepVersion(tx: Transaction, { kind, id, value, epoch, by }: Version): Promise<void> {
  await tx.run(sql`UPDATE "_PolicyHistory" SET "toEpoch" = ${epoch} WHERE "kind" = ${kind} AND "subjectId" = ${id} AND "toEpoch" IS NULL`);
  const changedAt = new Date(tx.now).toISOString();
  await insertInto(tx, POLICY_TABLES.history, { id: uuidv7(), kind, subjectId: id, fromEpoch: epoch, value, changedBy: by, changedAt });
}

/** What a version's row holds of it. */
interface StoredVersion {
  readonly kind: HistoryKind;
  readonly value: unknown;
}

/** Everything decisions depended on at a past epoch: what a past decision is explained against. */
export async function loadPolicyStateAt(tx: Transaction, epoch: number): Promise<PolicyState> {
  const where = sql`"fromEpoch" <= ${epoch} AND ("toEpoch" IS NULL OR "toEpoch" > ${epoch}) AND "value" IS NOT NULL`;
  const versions = await selectFrom<StoredVersion>(tx, POLICY_TABLES.history, { where, orderBy: ['subjectId'] });
  const valuesOf = <Value>(kind: HistoryKind): readonly Value[] =>
    versions.filter((version) => version.kind === kind).map((version) => version.value as Value);
  return { epoch, policies: valuesOf('policy'), userPolicies: valuesOf('userPolicy'), rolePolicies: valuesOf('rolePolicy') };
}
