import { type HistoryHead, loadHistoryHeadAt } from '../../storage/index.ts';
import { CONTENT, parseHistoryFacts } from '../index.ts';
import type { Break } from './chain-breaks.ts';
import type { ChainRow } from './entry-rows.ts';
import { type ChainVerification, type EntryPosition, type VerifyChainsOptions, verifyChains } from './verify-chains.ts';
import { verifyHistory } from './verify-history.ts';
import { LIVE_KINDS, type LiveKind, verifyLivePolicies } from './verify-live-policies.ts';

/** The result of verifying the policies and their history. */
export interface PolicyVerification {
  /** Number of versions of policies and assignments whose hashes were compared. */
  readonly versions: number;
  /** Number of versions that are older than the hashes of the history and cannot be verified. */
  readonly unproven: number;
  /** The newest revision whose history hash a verified audit entry contains. The hash covers all earlier revisions. Absent if no entry has one. */
  readonly provenUntil?: number;
  /** The newest revision that has a hash. */
  readonly until?: number;
}

/** The result of verifying the audit log and the policies. */
export interface AuditVerification extends Omit<ChainVerification, 'next'> {
  readonly policies: PolicyVerification;
  /** The position to continue from; absent if all was verified. */
  readonly next?: VerifyPosition;
}

/** A position in the verification: first the chains of entries, then the versions of policies, then the policies themselves. */
export type VerifyPosition =
  | ({ readonly part: 'chain' } & EntryPosition)
  | { readonly part: 'versions'; readonly after: number }
  | { readonly part: LiveKind; readonly after: string };

/** The scope of a verification and the position to start from. */
export interface VerifyOptions extends Omit<VerifyChainsOptions, 'from' | 'onEntries'> {
  readonly from?: VerifyPosition | undefined;
}

const [KIND, FACTS] = [CONTENT.indexOf('kind'), CONTENT.indexOf('facts')];
const MAX_REPORTED = 1000;
const PAGE = 500;

/**
 * Verifies the chains of audit entries, the policy history against the hashes that entries hold, and the policies and assignments in force
 * against the history. With a `limit`, verifies one part: `next` is the position to continue from.
 */
export async function verifyAll({ from, limit = Number.POSITIVE_INFINITY, ...options }: VerifyOptions): Promise<AuditVerification> {
  const found: Break[] = [];
  let count = 0;
  const report = (each: Break): void => {
    count++;
    if (found.length < MAX_REPORTED) found.push(each);
  };
  const claims = createHistoryClaims(options, report);
  const chains =
    from === undefined || from.part === 'chain'
      ? await verifyChains({ ...options, from, limit, onEntries: claims.check })
      : { entries: 0, chains: 0, notChained: 0, breaks: [], breakCount: 0 };
  const part = { limit: Math.max(1, limit - chains.entries - chains.chains), report };
  const position = from === undefined || from.part === 'chain' ? BEGINNING : from;
  const { policies, next } =
    'next' in chains && chains.next !== undefined
      ? { policies: NOTHING, next: { part: 'chain' as const, ...chains.next } }
      : await verifyPolicies(options, { ...part, position });
  const until = (await options.transaction((tx) => loadHistoryHeadAt(tx, Number.MAX_SAFE_INTEGER)))?.revision;
  const { entries, chains: chainCount, notChained } = chains;
  return {
    ...{ entries, chains: chainCount, notChained },
    breaks: [...chains.breaks, ...found].slice(0, MAX_REPORTED),
    breakCount: chains.breakCount + count,
    policies: { ...policies, ...(claims.until > 0 && { provenUntil: claims.until }), ...(until !== undefined && { until }) },
    ...(next !== undefined && { next }),
  };
}

const BEGINNING = { part: 'versions', after: 0 } as const;
const NOTHING: PolicyVerification = { versions: 0, unproven: 0 };

interface PolicyPart {
  readonly position: Exclude<VerifyPosition, { part: 'chain' }>;
  readonly limit: number;
  report(found: Break): void;
}

async function verifyPolicies(
  { transaction }: Pick<VerifyChainsOptions, 'transaction'>,
  { position, limit, report }: PolicyPart,
): Promise<{ readonly policies: PolicyVerification; readonly next: VerifyPosition | undefined }> {
  let left = limit;
  let policies = { versions: 0, unproven: 0 };
  if (position.part === 'versions') {
    const { next, ...checked } = await verifyHistory({ transaction, after: position.after, limit, report });
    policies = checked;
    if (next !== undefined) return { policies, next: { part: 'versions', after: next } };
    left -= checked.versions;
  }
  let at: VerifyPosition | undefined = position.part === 'versions' ? { part: LIVE_KINDS[0], after: '' } : position;
  while (at !== undefined && left > 0) {
    const { part, after }: { part: LiveKind; after: string } = at as never;
    const { count, next } = await verifyLivePolicies({ transaction, kind: part, after, limit: Math.min(PAGE, left), report });
    left -= count;
    const following = LIVE_KINDS[LIVE_KINDS.indexOf(part) + 1];
    at = next !== undefined ? { part, after: next } : following && { part: following, after: '' };
  }
  return { policies, next: at };
}

interface HistoryClaims {
  /** The newest revision whose hash an entry holds; 0 if no entry holds one. */
  readonly until: number;
  check(rows: readonly ChainRow[]): Promise<void>;
}

/** Creates the check that compares the hash of the policy history in each admin entry with the stored hash of its revision. */
function createHistoryClaims({ transaction }: Pick<VerifyChainsOptions, 'transaction'>, report: (found: Break) => void): HistoryClaims {
  const reported = new Set<string>();
  let until = 0;
  return {
    get until() {
      return until;
    },
    async check(rows) {
      for (const { id, revision, hash } of rows.flatMap((row) => claimOf(row) ?? [])) {
        const head = await transaction((tx) => loadHistoryHeadAt(tx, revision));
        until = Math.max(until, revision);
        // Entries of a chain that is pruned during the check are returned twice.
        if ((head?.revision === revision && head.hash === hash) || reported.has(id) || reported.size >= MAX_REPORTED) continue;
        reported.add(id);
        report({ kind: 'history', id, detail: `the policy history of revision ${revision} has another hash than entry ${id} contains` });
      }
    },
  };
}

function claimOf(row: ChainRow): (HistoryHead & { readonly id: string }) | undefined {
  const [kind, facts] = [row.content[KIND], row.content[FACTS]];
  const head = kind === 'admin' && typeof facts === 'string' ? parseHistoryFacts(facts) : undefined;
  return head && { ...head, id: row.id };
}
