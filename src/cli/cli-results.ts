/** The results of commands, as plain data, and the options that select them. */

/** Findings about policies in files. */
export interface CliLintReport {
  readonly findings: readonly { readonly level: 'warning' | 'info' }[];
  readonly lines: readonly string[];
}

/** The result of all checks of a project that need no database. */
export interface CliProjectCheck {
  readonly isValid: boolean;
  readonly lines: readonly string[];
}

/** The results of policy tests. */
export interface CliTestReport {
  readonly cases: number;
  readonly failed: number;
  readonly lines: readonly string[];
  /** JUnit XML. */
  readonly junit: string;
  /** The results as JSON. */
  readonly summary: object;
}

/** The age of the audit entries to delete. Unless `isSure` is set, the entries are only counted. */
export interface CliPruneOptions {
  readonly before: string | undefined;
  readonly olderThan: string | undefined;
  readonly isSure: boolean;
}

/** The audit entries that were deleted, or in a preview would be deleted. */
export interface CliPruneResult {
  /** The first day whose audit entries are kept. */
  readonly before: string;
  readonly entries: number;
  readonly chains: number;
}

/** The result of a verification of the audit log. */
export interface CliVerification {
  readonly entries: number;
  readonly chains: number;
  readonly notChained: number;
  readonly breaks: readonly { readonly kind: string; readonly writer?: string | undefined; readonly detail: string }[];
  readonly breakCount: number;
  /** The policy versions, those from before versions were hashed, and the revision up to which an audit entry proves them. */
  readonly policies: Readonly<Record<'versions' | 'unproven', number>> & {
    readonly provenUntil?: number | undefined;
    readonly until?: number | undefined;
  };
  readonly pruned: readonly { readonly at: string; readonly reason: string; readonly by: string }[];
  /** Absent if checkpoints are off. */
  readonly checkpoints?: { readonly lines: number; readonly until: string | undefined; readonly restored: readonly string[] } | undefined;
}

/** The result of a verification of all data. */
export interface CliDataVerification {
  readonly isWhole: boolean;
  readonly database: { readonly damage: readonly string[]; readonly summary: string };
  /** Undefined if the database has no checksums yet. */
  readonly rows: { readonly rows: number; readonly damaged: readonly string[]; readonly damagedCount: number } | undefined;
  readonly decisions: CliVerification;
}

/** A project to create. */
export interface CliNewProject {
  readonly folder: string;
  /** A name of `PROJECT_TEMPLATES`. */
  readonly template: string;
  readonly hasExampleData: boolean;
}

/** A created project. */
export interface CliCreatedProject {
  /** The absolute path. */
  readonly folder: string;
  /** Paths of the files, relative to the folder. */
  readonly files: readonly string[];
}

/** An audit entry, as commands print it. */
export interface CliEntry {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly userId?: string | undefined;
  readonly role: string;
  readonly resource: string;
  readonly action: string;
  readonly recordId?: string | undefined;
  readonly allowed: boolean;
  readonly reason: string;
}

/** Entries, the oldest first, and a position after them. */
export interface CliTail {
  readonly entries: readonly CliEntry[];
  readonly position: CliTailPosition;
}

/** A position in the audit log. */
export interface CliTailPosition {
  readonly since: number;
  readonly heads: ReadonlyMap<string, { readonly sequence: number; readonly at: number }>;
}

/** Filters of audit entries by the names of the admin endpoints. */
export type CliEntryFilters = Readonly<Record<string, string | boolean>>;

/** The names of the caller and the record of an entry. A name is undefined if there is none, or if the user or record was deleted. */
export interface CliEntryLabels {
  readonly caller?: string | undefined;
  readonly record?: string | undefined;
}

/** The audit log of a project, as commands use it. */
export interface CliDecisions {
  /** Returns the filters with ids in place of emails and names. Throws if there is no such user, policy or resource. */
  select(filters: CliEntryFilters): Promise<CliEntryFilters>;
  /** Returns the names of the callers and records of entries, in their order. */
  labels(entries: readonly CliEntry[]): Promise<readonly CliEntryLabels[]>;
  /** Returns the last entries that match the filters. */
  last(filters: CliEntryFilters, count: number): Promise<CliTail>;
  /** Returns the entries after a position that match the filters. */
  after(filters: CliEntryFilters, position: CliTailPosition): Promise<CliTail>;
  /** Yields a file of the entries that match the filters, in pieces. */
  export(filters: CliEntryFilters, format: 'csv' | 'ndjson'): AsyncIterable<string>;
  /** Returns an entry with its explanation, also as lines to print. */
  explain(id: string): Promise<{ readonly entry: CliEntry; readonly lines: readonly string[] }>;
  close(): Promise<void>;
}

/** The state of a project's data. If there is no database yet, only `project` and `database` are present. */
export interface CliStatus {
  readonly project: string;
  readonly database: string;
  readonly databaseVersion?: string | undefined;
  readonly revision?: number;
  readonly migration?: { readonly steps: number; readonly held: readonly string[] };
  readonly users?: number;
  readonly admins?: number;
  readonly policies?: number;
  readonly activePolicies?: number;
  readonly lastEntryAt?: string | undefined;
  readonly lastBackup?: { readonly name: string; readonly at: string; readonly bytes: number } | undefined;
  readonly damaged?: readonly string[];
}
