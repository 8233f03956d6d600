import type { JsonObject } from '../operators/index.ts';
import { type HistoryHead, loadHistoryHead, type Transaction } from '../storage/index.ts';

/**
 * What the entry of a change of policies or assignments holds: the revision that it began and the hash of the policy history up to it. The
 * chain of entries binds the entry, and so every version of a policy.
 */
export async function loadHistoryFacts(tx: Transaction): Promise<JsonObject | undefined> {
  const head = await loadHistoryHead(tx);
  return head && { policyRevision: head.revision, policyHash: head.hash };
}

/** Reads what an entry says of the policy history; undefined where it says nothing. */
export function readHistoryFacts(facts: string | null): HistoryHead | undefined {
  if (facts?.includes('"policyHash"') !== true) return undefined;
  try {
    const { policyRevision: revision, policyHash: hash } = Object(JSON.parse(facts)) as Record<string, unknown>;
    return typeof revision === 'number' && typeof hash === 'string' ? { revision, hash } : undefined;
  } catch {
    // Not JSON any more: its own chain says so.
    return undefined;
  }
}
