import type { Config } from '../config/index.ts';

/** What commands need of the process around them. */
export interface CliContext {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Prints one line for the user. */
  print(line: string): void;
  /** Prints one line about what went wrong. */
  printError(line: string): void;
  /** Opens a file to be read, until `stop` is aborted, which throws its reason; `-` is standard input. Throws where it cannot. */
  openInput(path: string, stop: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Writes a file under a temporary name and renames it when it is complete; `-` is standard output. Throws SetupError, before the content is
   * requested, where the file exists; `force` replaces it.
   */
  writeOutput(path: string, open: () => Promise<AsyncIterable<string>>, options: { readonly force: boolean }): Promise<void>;
  /** Shows how far something is, in place of what it showed before; undefined ends the line. Absent where nobody looks on. */
  readonly showProgress?: ((line: string | undefined) => void) | undefined;
  /** Reads a new password from the terminal, without echo, or from standard input. Throws where none is given. */
  readPassword(): Promise<string>;
  /** The process itself has these. */
  readonly signals: SignalSource;
  /** Where this process is one of several workers: who leads them. */
  readonly lead?: CliLeadLink | undefined;
  /** Leads workers that each are such a service; `service.ts` has it. */
  createLead(settings: Config): Promise<CliLead>;
  /** Makes a service; `service.ts` has it. In development its denials name the address that explains them. */
  createService(settings: Config, options?: { readonly isDevelopment: boolean }): Promise<CliService>;
  /** Opens a project's tables without one; `project/` has it. */
  openTables(settings: Config): Promise<CliTables>;
  /** Opens a project's backups; `project/` has it. */
  openBackups(settings: Config): Promise<CliBackups>;
  /** Looks a project's record over; `project/` has it. */
  verifyDecisions(settings: Config, options: { readonly publicKey: string | undefined }): Promise<CliVerification>;
  /** Removes old entries of a project's record; `project/` has it. */
  pruneDecisions(settings: Config, options: CliPruning): Promise<CliPruned>;
}

/** Which old entries go; only looks where nobody is sure. */
export interface CliPruning {
  readonly before: string | undefined;
  readonly olderThan: string | undefined;
  readonly isSure: boolean;
}

/** What went, or would go. */
export interface CliPruned {
  /** The first day that stays. */
  readonly before: string;
  readonly entries: number;
  readonly chains: number;
}

/** What a look over the record came to. */
export interface CliVerification {
  readonly entries: number;
  readonly chains: number;
  readonly notChained: number;
  readonly breaks: readonly { readonly kind: string; readonly writer?: string | undefined; readonly detail: string }[];
  readonly breakCount: number;
  /** The versions of policies, and the revision up to which an audit entry proves them. */
  readonly policies: {
    readonly versions: number;
    readonly unproven: number;
    readonly provenUntil?: number | undefined;
    readonly until?: number | undefined;
  };
  readonly pruned: readonly { readonly at: string; readonly reason: string; readonly by: string }[];
  /** Absent where none are made. */
  readonly checkpoints?: { readonly lines: number; readonly until: string | undefined; readonly restored: readonly string[] } | undefined;
}

/** Where signals come from. */
export interface SignalSource {
  on(signal: StopSignal | RestartSignal, listener: () => void): unknown;
  off(signal: StopSignal | RestartSignal, listener: () => void): unknown;
}

/** The signal that replaces workers. Not SIGHUP: that is also sent where the terminal is closed, and then all should end. */
export type RestartSignal = 'SIGUSR2';

/** What a worker has of the lead. */
export interface CliLeadLink {
  /** Says that requests are taken now. */
  ready(url: string): void;
  /** Told once: that this worker is to end, and whether only because another takes its place. */
  onEnd(listener: (end: { readonly isReplaced: boolean }) => void): void;
}

/** What commands need of the process that leads workers. */
export interface CliLead {
  start(): Promise<{ readonly url: string; readonly notices: readonly string[] }>;
  restart(): Promise<void>;
  close(): Promise<void>;
  kill(): void;
}

/** The signals that stop a service. */
export type StopSignal = 'SIGTERM' | 'SIGINT';

/** What commands need of the service. */
export interface CliService {
  /** What an operator should know on start, a sentence each; complete once it listens. */
  readonly notices: readonly string[];
  /** Creates the set-up token that start prints; undefined where an admin exists or set-up is off. */
  openSetup(): Promise<string | undefined>;
  /** Lets tables follow the definitions, without listening. */
  prepare(): Promise<void>;
  listen(): Promise<{ readonly url: string }>;
  /** Follows changes of definition files; each change is told in a sentence. */
  watch(tell: (line: string) => void): void;
  policiesFromPermissions(options: { readonly apply: boolean }): Promise<PermissionPolicies>;
  /** Imports policies as an admin; gives a sentence on what became of them. */
  importPolicies(file: CliPolicies): Promise<string>;
  /** Every policy as a file, piece by piece. */
  exportPolicies(format: 'json' | 'ndjson'): Promise<AsyncIterable<string>>;
  /** Restores the policy that gives admins full access; `closing` are the rules that still deny admins. */
  restoreAdminPolicy(): Promise<{ readonly message: string; readonly closing: readonly string[] }>;
  /** Sets a user's password and ends every session of theirs; returns a sentence. */
  setPassword(given: { readonly email: string; readonly password: string }): Promise<string>;
  /** Creates a user; returns a sentence. */
  createUser(given: CliUser): Promise<string>;
  /** Gives a user a role and activates them; returns a sentence. */
  promoteUser(given: { readonly email: string; readonly role: string }): Promise<string>;
  /** Imports a file as a user; gives a line of JSON for each row that is rejected, and a last one for what became of all. */
  importFile(file: CliImport): Promise<AsyncIterable<string>>;
  /** Exports as a user; gives the file piece by piece. */
  exportFile(file: CliTransfer & { readonly body: CliExportBody }): Promise<AsyncIterable<string>>;
  /** Lets requests in flight end, commits, closes. */
  close(how?: { readonly isReplaced?: boolean }): Promise<void>;
}

/** A user that is created. */
export interface CliUser {
  readonly email: string;
  readonly name: string;
  /** The default of the definition where absent. */
  readonly role: string | undefined;
  readonly password: string;
}

/** A file of policies. */
export interface CliPolicies {
  /** Email of the admin. */
  readonly as: string;
  readonly mediaType: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly dryRun: boolean;
}

/** A file that comes or goes. */
export interface CliTransfer {
  readonly resource: string;
  /** Email of the user whose policies decide. */
  readonly as: string;
  /** As the query of the address says it. */
  readonly query: ReadonlyMap<string, string>;
  /** Told how many rows are done, as they are. */
  tell(rows: number): void;
}

/** A file that comes. */
export interface CliImport extends CliTransfer {
  readonly mediaType: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** What of the records is exported, and in which order. */
export interface CliExportBody {
  readonly [name: string]: string | readonly string[];
}

/** What commands need of tables. */
export interface CliTables {
  plan(): Promise<StoragePlan>;
  /** Does what loses nothing, and what else the plan of this hash has. */
  apply(options: { readonly allow?: string | undefined }): Promise<{ readonly plan: StoragePlan; readonly done: readonly StorageStep[] }>;
  /** What was done, the newest first. */
  history(limit: number): Promise<readonly StorageMigration[]>;
  /** What is kept of deleted records, by resource. */
  deletedRecords(): Promise<readonly StoredDeleted[]>;
  /** What is kept aside, as steps that would drop it for good; with `deletedBefore`, also records deleted so many days ago. */
  planPrune(options: { readonly deletedBefore?: number | undefined }): Promise<StoragePlan>;
  prune(options: { readonly deletedBefore?: number | undefined }): Promise<readonly StorageStep[]>;
  /** After a restore by tools of the database: ends every session and begins a new epoch, on the record. */
  noteRestored(): Promise<void>;
  close(): Promise<void>;
}

/** What commands need of backups. */
export interface CliBackups {
  write(file: string, shown: CliShown): Promise<{ readonly file: string; readonly bytes: number }>;
  /** What a restore would do; does none of it. */
  look(file: string): Promise<CliRestore>;
  restore(file: string, shown: CliShown): Promise<CliRestore>;
}

/** Shown what is done, as it begins. */
export interface CliShown {
  readonly show: (line: string) => void;
}

/** What a restore would do, or has done. */
export interface CliRestore {
  readonly bytes: number;
  /** When the newest entry of the backup was made. */
  readonly until: string | undefined;
  /** Entries that what stands now has beyond that. */
  readonly entriesSince: number;
  /** What stood before, once it is done. */
  readonly kept: string | undefined;
}

/** What a resource keeps of deleted records. */
export interface StoredDeleted {
  readonly resource: string;
  readonly count: number;
  readonly oldest: string;
  readonly newest: string;
}

/** One step by which tables follow definitions. */
export interface StorageStep {
  readonly resource: string;
  readonly kind: string;
  readonly risk: string;
  readonly reason: string;
  readonly sql: readonly string[];
}

/** What would have to happen for tables to follow definitions. */
export interface StoragePlan {
  readonly hash: string;
  readonly steps: readonly StorageStep[];
  /** Resources that stay as they were. */
  readonly held: readonly string[];
}

/** One time that tables followed definitions. */
export interface StorageMigration {
  readonly at: string;
  readonly actor: string;
  readonly planHash: string;
  readonly steps: readonly Readonly<Record<string, unknown>>[];
  readonly durationMs: number;
}

/** The policies that mean the same as the legacy permissions maps, as `POST /admin/api/policies` takes them. */
export type PermissionPolicies = readonly {
  readonly policy: object;
  readonly roles: readonly string[];
  readonly state: 'missing' | 'present' | 'made';
}[];

/** One command. */
export interface CliCommand {
  /** As typed: `storage plan`. */
  readonly name: string;
  readonly summary: string;
  /** What stands behind its name: `<resource>`, or `[file]` where it may be absent → one sentence. They are among the switches, by name. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Switches of its own, beside the settings: flag, with `<value>` where it takes one → one sentence. */
  readonly switches?: Readonly<Record<string, string>>;
  /** Set where nothing is served: help names only the settings that say where things are. The others are accepted all the same. */
  readonly isOffline?: true;
  /** Answers the exit code. */
  run(world: CliContext, settings: Config, switches: CliFlags): Promise<number>;
}

/** The switches given, by name: their value, or `true` where they take none. */
export type CliFlags = ReadonlyMap<string, string | true>;
