import type { JsonObject } from '../operators/index.ts';
import { type HistoryHead, loadHistoryHead, type Transaction } from '../storage/index.ts';

/**
 * Facts in the audit entry of a change of policies or assignments: the revision of the change and the hash of the policy history up to it. The
 * hash chain of the entries protects the entry, and so every version of a policy.
 */
export async function loadHistoryFacts(tx: Transaction): Promise<JsonObject | undefined> {
  const head = await loadHistoryHead(tx);
  return head && { policyRevision: head.revision, policyHash: head.hash };
}

/** Parses the facts about the policy history in an entry; undefined if the entry has none. */
export function readHistoryFacts(facts: string | null): HistoryHead | undefined {
  if (facts?.includes('"policyHash"') !== true) return undefined;
  try {
    const { policyRevision: revision, policyHash: hash } = Object(JSON.parse(facts)) as Record<string, unknown>;
    return typeof revision === 'number' && typeof hash === 'string' ? { revision, hash } : undefined;
  } catch {
    // The entry is no longer JSON. The check of its hash chain reports that.
    return undefined;
  }
}
