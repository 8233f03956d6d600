/** Commands of the CLI on a project's audit log and policy history that need no service. They only read, while a service runs or not. */
import {
  type ComparedChange,
  type EntryFilters,
  type EntryLabels,
  type EntryTail,
  type ExplainedEntry,
  explainFromCommand,
  exportEntriesFromCommand,
  findPolicyId,
  type HistoryQuery,
  hasEntriesAbout,
  loadEntryLabels,
  loadHistory,
  loadLastEntries,
  loadNewEntries,
  parseEntryFilters,
  type ReadTransaction,
} from './api/index.ts';
import { OTHER_SUBJECTS } from './audit/index.ts';
import { createPolicyStore } from './authz/index.ts';
import { toPolicyLimits, toPolicyStoreOptions } from './component-options.ts';
import type { Config } from './config/index.ts';
import { didYouMean, Problem } from './errors.ts';
import { toOneLine } from './one-line.ts';
import { printExplanation } from './policy-files/index.ts';
import { openAuditLog, readProject } from './project/index.ts';
import { type Definitions, ordinaryResources, type Resource } from './resources/index.ts';
import { loadAppliedDefinitions, loadUserByEmail, type Transaction } from './storage/index.ts';

/** The audit log of a project. */
export interface ProjectDecisions {
  /**
   * Returns the filters with the id of the user or policy in place of an email or name.
   *
   * @throws Problem USER_UNKNOWN, POLICY_UNKNOWN, REQUEST_PARAMETER
   */
  select(filters: EntryFilters): Promise<EntryFilters>;
  /** Returns the names of the callers and records of entries, in their order. */
  labels(entries: EntryTail['entries']): Promise<readonly EntryLabels[]>;
  /** Returns the last entries that match the filters. @throws Problem REQUEST_PARAMETER */
  last(filters: EntryFilters, count: number): Promise<EntryTail>;
  /** Returns the entries after a position that match the filters. */
  after(filters: EntryFilters, position: EntryTail['position']): Promise<EntryTail>;
  /** Yields a file of the entries that match the filters, in pieces. @throws Problem REQUEST_PARAMETER */
  export(filters: EntryFilters, format: 'csv' | 'ndjson'): AsyncIterable<string>;
  /** Returns an entry with its explanation, also as lines to print. @throws Problem DECISION_UNKNOWN */
  explain(id: string): Promise<{ readonly entry: ExplainedEntry; readonly lines: readonly string[] }>;
  close(): Promise<void>;
}

/** Opens the audit log of a project. @throws SetupError if there is none, or with every mistake of the definitions */
export async function openDecisions(config: Config): Promise<ProjectDecisions> {
  const definitions = readProject(config.project);
  const policyStore = createPolicyStore(definitions, toPolicyStoreOptions(config));
  const { read, close } = await openReader(config);
  return {
    select: (filters) => read((tx) => selectEntries(tx, filters)),
    labels: (entries) => read((tx) => loadEntryLabels(tx, entries)),
    last: (filters, count) => loadLastEntries(read, parseEntryFilters(filters), count),
    after: (filters, position) => loadNewEntries(read, parseEntryFilters(filters), position),
    export: (filters, format) => exportEntriesFromCommand(read, { format, filter: parseEntryFilters(filters), definitions }),
    explain: (id) =>
      read(async (tx) => {
        const deps = { limits: toPolicyLimits(config), timeZone: config.timezone };
        const entry = await explainFromCommand({ tx, snapshot: await policyStore.snapshot(tx), deps }, id);
        const { trace, note, warnings = [] } = entry;
        return { entry, lines: trace === undefined ? [] : [...printExplanation({ trace, note }), ...warnings.map(toOneLine)] };
      }),
    close,
  };
}

async function selectEntries(tx: Transaction, filters: EntryFilters): Promise<EntryFilters> {
  const definitions = await loadAppliedDefinitions(tx);
  const { userId, policyId, resource } = filters;
  if (typeof resource === 'string') await requireSubject(tx, definitions, resource);
  // The id of a user of another issuer is `<issuer>|<subject>`.
  const isEmail = typeof userId === 'string' && userId.includes('@') && !userId.includes('|');
  const user = isEmail ? await loadUserByEmail(tx, definitions.get('User') as Resource, { email: userId, forUpdate: false }) : undefined;
  return {
    ...filters,
    ...(user !== undefined && { userId: user.id }),
    ...(typeof policyId === 'string' && { policyId: await findPolicyId(tx, policyId) }),
  };
}

/** Refuses a resource without a definition about which there is no entry. @throws Problem REQUEST_PARAMETER */
async function requireSubject(tx: Transaction, definitions: Definitions, resource: string): Promise<void> {
  const known = [...ordinaryResources(definitions).map(({ name }) => name), ...OTHER_SUBJECTS];
  if (known.includes(resource) || (await hasEntriesAbout(tx, resource))) return;
  const detail = `no resource is named ${JSON.stringify(resource.slice(0, 64))}, and no entry is about one${didYouMean(resource, known)}`;
  throw new Problem('REQUEST_PARAMETER', detail);
}

/** Reads the past changes of a project's policies. */
export interface ProjectPolicyHistory {
  /** Returns the last changes, newest first. @throws Problem POLICY_UNKNOWN */
  last(query: HistoryQuery): Promise<readonly ComparedChange[]>;
  close(): Promise<void>;
}

/** Opens the history of a project's policies. @throws SetupError if there is none */
export async function openPolicyHistory(config: Config): Promise<ProjectPolicyHistory> {
  const { read, close } = await openReader(config);
  return { last: (query) => read((tx) => loadHistory(tx, query)), close };
}

interface Reader {
  readonly read: ReadTransaction;
  close(): Promise<void>;
}

async function openReader(config: Config): Promise<Reader> {
  const database = await openAuditLog(config);
  return { read: (work) => database.transaction(work, { unlimited: true }), close: () => database.close() };
}
