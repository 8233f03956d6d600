import { hash } from 'node:crypto';
import type { JsonObject } from '../operators/index.ts';
import { type HistoryHead, loadHistoryHead, type Transaction } from '../storage/index.ts';

/** The columns of an entry that its hash is made of, in this order. */
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

/** The values of an entry in the order of `CONTENT`, as its columns hold them: `facts` is the text that is stored, not what it says. */
export type Content = readonly (string | number | boolean | null)[];

/** How a chain begins. */
export interface Beginning {
  /** UUIDv7 of the writer. */
  readonly writer: string;
  /** ISO 8601: when it began. */
  readonly at: string;
  /** What it found then, as the text that is stored. */
  readonly found: string;
}

/** What every hash begins with, so that none can pass for that of something else. */
const BEGINNING = 'bailiwick chain 1';

/**
 * The hash that stands before the first entry of a chain. It binds whose chain it is, and the ends of those that stood by then: none of
 * them can be taken away whole without breaking this one.
 */
export function toBeginningHash({ writer, at, found }: Beginning): string {
  return digest([BEGINNING, writer, at, found]);
}

/**
 * The hash of an entry: of the one before it and of its own columns, so of everything before it. The bytes are a JSON array, UTF-8,
 * as ECMAScript writes it and RFC 8785 fixes it: the same whatever the database, and any language can make them.
 */
export function toHash(previous: string, content: Content): string {
  return digest([previous, ...content]);
}

function digest(parts: Content): string {
  return hash('sha256', JSON.stringify(parts), 'base64url');
}

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
