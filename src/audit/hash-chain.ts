import { hash } from 'node:crypto';
import type { JsonObject } from '../operators/index.ts';
import { type HistoryHead, loadHistoryHead, type Transaction } from '../storage/index.ts';

/**
 * The columns of an entry that its hash covers, in the order of `toContent`. The list is fixed: verification hashes these columns of every
 * entry, so with another column all entries written before would be reported as edited.
 */
export const CONTENT = [
  'id',
  'at',
  'kind',
  'userId',
  'role',
  'resource',
  'action',
  'recordId',
  'allowed',
  'reason',
  'ruleId',
  'policyId',
  'epoch',
  'requestId',
  'ip',
  'outcome',
  'facts',
] as const;

/** The values of an entry in the order of `CONTENT`, as stored; `facts` is the stored JSON text. */
export type Content = readonly (string | number | boolean | null)[];

/** The beginning of a chain. */
export interface ChainBeginning {
  /** UUIDv7 of the writer. */
  readonly writer: string;
  /** ISO 8601. */
  readonly at: string;
  /** The heads of earlier chains at that time, as the stored JSON text. */
  readonly found: string;
  /** IANA name of the time zone in which the entries are decided; null if it was not recorded. */
  readonly timeZone: string | null;
}

/** Domain separator: the first member of the hashed text of a beginning, so that no entry can have the hash of a beginning. */
const BEGINNING = 'bailiwick chain 1';

/**
 * Returns the hash of a chain's beginning, which the hash of the first entry covers. It covers the writer, the time, the heads of
 * earlier chains, so that the removal of an earlier chain is detected, and the time zone if it was recorded.
 */
export function toBeginningHash({ writer, at, found, timeZone }: ChainBeginning): string {
  return digest([BEGINNING, writer, at, found, ...(timeZone === null ? [] : [timeZone])]);
}

/**
 * Returns the hash of an entry. It covers the content of the entry and the hash of the previous entry, and so all earlier entries of the chain.
 * The hashed bytes are a JSON array in UTF-8 as of RFC 8785, which is the same on every database and can be computed in any language.
 */
export function toHash(previous: string, content: Content): string {
  return digest([previous, ...content]);
}

function digest(parts: Content): string {
  return hash('sha256', JSON.stringify(parts), 'base64url');
}

/**
 * Loads the facts for the entry of a change of policies or assignments: the revision of the change, and the hash of the policy history up to
 * that revision. The hash chain protects the entry, and so every version of a policy.
 */
export async function loadHistoryFacts(tx: Transaction): Promise<JsonObject | undefined> {
  const head = await loadHistoryHead(tx);
  return head && { policyRevision: head.revision, policyHash: head.hash };
}

/** Parses the facts about the policy history in an entry; undefined if the entry has none. */
export function parseHistoryFacts(facts: string | null): HistoryHead | undefined {
  if (facts?.includes('"policyHash"') !== true) return undefined;
  try {
    const { policyRevision: revision, policyHash: hash } = Object(JSON.parse(facts)) as Record<string, unknown>;
    return typeof revision === 'number' && typeof hash === 'string' ? { revision, hash } : undefined;
  } catch {
    // The text is no longer JSON; the verification of its chain reports that.
    return undefined;
  }
}
