/** The results of commands that apply, compare and restore policies, as plain data. */

/** Policies and assignments that files manage and no longer contain. */
interface CliOrphans {
  readonly orphanedPolicies: readonly { readonly id: string; readonly name: string; readonly file: string }[];
  readonly orphanedRoles: readonly { readonly policy: string; readonly role: string }[];
}

/** The numbers of policies and assignments that an application creates and changes. */
interface CliApplicationCounts {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly assigned: number;
}

/** The result of an application of policy files. */
export interface CliApplied extends CliApplicationCounts, CliOrphans {
  readonly changes: readonly object[];
  readonly assignments: readonly object[];
  /** The changes in words; the last line has the numbers. */
  readonly lines: readonly string[];
}

/** The differences between policies of files and those in force. */
export interface CliPolicyComparison extends CliApplied {
  /** Undefined if nothing differs, or too much for one preview. */
  readonly replay: CliReplay | undefined;
}

/** A change in the history of policies. */
export interface CliPolicyChange {
  readonly revision: number;
  /** ISO 8601. */
  readonly at: string;
  readonly by?: { readonly id: string; readonly name?: string };
  readonly reason?: string | undefined;
  /** The revision that a rollback restored. */
  readonly rolledBackTo?: number;
  readonly change: string;
  readonly subject: string;
  readonly policy: { readonly id: string; readonly name?: string };
  readonly summary: string;
  /** The differences from the version before, of a policy that was changed. */
  readonly differences: readonly { readonly meaning: string }[];
}

/** The history of the policies of a project, as commands use it. */
export interface CliPolicyHistory {
  /** Returns the last changes, newest first; `policy` is a name or an id. Throws if no policy has or had it. */
  last(query: { readonly policy: string | undefined; readonly limit: number }): Promise<readonly CliPolicyChange[]>;
  close(): Promise<void>;
}

/** A rollback, or its preview. */
export interface CliRolledBack {
  readonly name: string;
  /** The differences from the present version to the restored one. */
  readonly differences: readonly { readonly meaning: string }[];
  readonly assignments: readonly CliRolledBackAssignment[];
  /** The file that manages the policy: then nothing was changed. */
  readonly file: string | undefined;
  /** A sentence about what was done; undefined if a file manages the policy. */
  readonly message: string | undefined;
}

/** An assignment that a rollback restores, revokes or skips: to a role or to a user. */
export interface CliRolledBackAssignment {
  readonly outcome: 'restored' | 'revoked' | 'skipped';
  readonly role?: string;
  readonly userId?: string;
  /** Absent if the user does not exist. */
  readonly email?: string;
}

/** Numbers of replayed decisions, with samples of those that change. */
export interface CliReplay {
  readonly examined: number;
  readonly same: number;
  readonly allowToDeny: number;
  readonly denyToAllow: number;
  readonly changed: number;
  readonly unknown: number;
  readonly samples: readonly CliReplaySample[];
  /** True if older decisions were not replayed. */
  readonly isPartial: boolean;
}

/** Decisions that change in the same way. */
export interface CliReplaySample {
  readonly change: 'allowToDeny' | 'denyToAllow' | 'changed' | 'unknown';
  readonly count: number;
  readonly role: string;
  readonly resource: string;
  readonly action: string;
  readonly live?: { readonly reason?: string };
  readonly draft?: { readonly reason?: string };
  /** Paths whose values the audit log did not keep. */
  readonly missing?: readonly string[];
}
