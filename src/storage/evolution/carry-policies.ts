import type { Definitions } from '../../resource/index.ts';
import { sql } from '../../sql/index.ts';
import type { Transaction } from '../database.ts';
import { loadPolicy } from '../policies.ts';
import { keepVersion } from '../policy-history.ts';
import { carryRule, loadRules, type Renames } from './rules.ts';

/** Who is named as the author of what an evolution changes in policies. */
const EVOLUTION = 'evolution';

/** What policies are carried along with. */
export interface Carrying {
  readonly renames: Renames;
  /** The definitions before. */
  readonly before: Definitions;
  /** The epoch that the evolution begins. */
  readonly epoch: number;
}

/** Says what is renamed anew in every rule that names it, and keeps a version of every policy that this changes. */
export async function carryPolicies(tx: Transaction, { renames, before, epoch }: Carrying): Promise<void> {
  const changed = new Set<string>();
  for (const rule of await loadRules(tx)) {
    const carried = carryRule(rule, renames, before);
    if (!carried.changed) continue;
    changed.add(rule.policyId);
    const conditions = JSON.stringify(carried.conditions);
    await tx.run(sql`UPDATE "_PolicyRule" SET "resource" = ${carried.resource}, "conditions" = ${conditions} WHERE "id" = ${rule.ruleId}`);
  }
  for (const id of changed) {
    await tx.run(sql`UPDATE "_Policy" SET "updatedAt" = ${new Date(tx.now).toISOString()}, "version" = ${epoch} WHERE "id" = ${id}`);
    await keepVersion(tx, { kind: 'policy', id, value: await loadPolicy(tx, id), epoch, by: EVOLUTION });
  }
}
