import type { Config } from '../config/index.ts';
import type {
  CliApplication,
  CliAssignment,
  CliComparedPolicies,
  CliExportBody,
  CliImportFile,
  CliPolicyFile,
  CliPolicyOfFile,
  CliRollback,
  CliTransfer,
  CliUnassignment,
  CliUser,
} from './cli-requests.ts';
import type {
  CliCreatedProject,
  CliDataVerification,
  CliDecisions,
  CliLintReport,
  CliNewProject,
  CliProjectCheck,
  CliPruneOptions,
  CliPruneResult,
  CliStatus,
  CliTestReport,
  CliVerification,
} from './cli-results.ts';
import type { CliApplied, CliPolicyComparison, CliPolicyHistory, CliRolledBack } from './policy-results.ts';

/** The functions that commands receive from the process. Tests pass their own. */
export interface CliContext {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True if the program runs from a checkout, false if from an installed package. */
  readonly isCheckout: boolean;
  /** Returns the settings in the file `.env` of a project, by the names of their environment variables. */
  readEnvFile(project: string): Promise<Readonly<Record<string, string>>>;
  /** Prints a line to standard output. */
  print(line: string): void;
  /** Aborted when a line cannot be written to standard output, for example because the reader has closed the pipe. */
  readonly outputFailed: AbortSignal;
  /** Waits until every line is written to standard output. Throws SetupError if one could not be; a closed pipe is not an error. */
  flushOutput(): Promise<void>;
  /** Prints a line to standard error. */
  printError(line: string): void;
  /** Opens a file for reading; `-` is standard input. Throws if it cannot be opened. Aborting `stop` ends the read with its reason. */
  openInput(path: string, stop: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Writes a file under a temporary name and renames it when it is complete; `-` is standard output. If the file exists, throws SetupError
   * before the content is requested, unless `force` is set.
   */
  writeOutput(
    path: string,
    open: () => Promise<AsyncIterable<string> | Iterable<string>>,
    options: { readonly force: boolean },
  ): Promise<void>;
  /** Returns the text of a file that is to be written; undefined if it does not exist. Throws SetupError if it is not a regular file. */
  readOutput(path: string): Promise<string | undefined>;
  /** Replaces the progress line; undefined ends it. Absent if standard error is not a terminal. */
  readonly showProgress?: ((line: string | undefined) => void) | undefined;
  /** Reads a new password from the terminal, without echo, or from standard input. Throws if none is given. */
  readPassword(): Promise<string>;
  /** Asks questions on the terminal. Absent if there is no terminal. */
  readonly askQuestions?: (<T>(run: (questions: CliQuestions) => Promise<T>) => Promise<T>) | undefined;
  /** The emitter of process signals. */
  readonly signals: SignalSource;
  /** The connection to the primary, if this process is a worker. */
  readonly primary?: CliPrimaryLink | undefined;
  /** Creates the primary of several workers. */
  createPrimary(config: Config): Promise<CliPrimary>;
  /** Creates a service. In development its denials contain the address of their explanation. */
  createService(config: Config, options?: { readonly isDevelopment: boolean }): Promise<CliService>;
  /** Creates the files of a project. */
  createProject(project: CliNewProject): Promise<CliCreatedProject>;
  /** Opens the tables of a project, without a service. */
  openTables(config: Config): Promise<CliTables>;
  /** Opens the backups of a project. */
  openBackups(config: Config): Promise<CliBackups>;
  /** Returns the OpenAPI document with all resources of a project, as JSON. */
  renderOpenApi(config: Config): Promise<string>;
  /** Returns the state of a project's data. */
  loadStatus(config: Config): Promise<CliStatus>;
  /** Opens the audit log of a project for reading. */
  openDecisions(config: Config): Promise<CliDecisions>;
  /** Verifies the audit log of a project. */
  verifyDecisions(config: Config, options: { readonly publicKey: string | undefined }): Promise<CliVerification>;
  /** Verifies the database, the checksums of its rows, and the audit log. */
  verifyData(config: Config, options: { readonly publicKey: string | undefined }): Promise<CliDataVerification>;
  /** Writes new checksums of damaged rows. Returns a description of each. */
  resealData(config: Config): Promise<readonly string[]>;
  /** Returns a TypeScript module with the types of a project's resources. */
  renderTypes(config: Config): Promise<string>;
  /** Returns the policies in the folder of a project, each with its file. Throws if there is none, unless `mayBeEmpty` is set. */
  readPolicies(config: Config, options?: { readonly mayBeEmpty: boolean }): Promise<readonly CliPolicyOfFile[]>;
  /** Opens the history of a project's policies for reading. */
  openPolicyHistory(config: Config): Promise<CliPolicyHistory>;
  /** Returns the findings about a project's policies. */
  lintPolicies(config: Config): Promise<CliLintReport>;
  /** Checks a project's definitions, policies and tests. */
  checkProject(config: Config): Promise<CliProjectCheck>;
  /** Runs the tests of a project's policies. */
  testPolicies(config: Config): Promise<CliTestReport>;
  /** Deletes old audit entries of a project. */
  pruneDecisions(config: Config, options: CliPruneOptions): Promise<CliPruneResult>;
}

/** An emitter of process signals. */
export interface SignalSource {
  on(signal: StopSignal | RestartSignal, listener: () => void): unknown;
  off(signal: StopSignal | RestartSignal, listener: () => void): unknown;
}

/** The signals that stop a service. */
export type StopSignal = 'SIGTERM' | 'SIGINT';

/** The signal that replaces workers. SIGHUP is not used, because it is also sent when the terminal is closed. */
export type RestartSignal = 'SIGUSR2';

/** Questions on the terminal. */
export interface CliQuestions {
  /** Asks a question and returns the typed line. */
  ask(question: string): Promise<string>;
}

/** The connection of a worker to the primary. */
export interface CliPrimaryLink {
  /** Reports that this worker accepts requests. */
  ready(url: string): void;
  /** Calls the listener once, when this worker must end. `isReplaced` is true if another worker takes its place. */
  onEnd(listener: (end: { readonly isReplaced: boolean }) => void): void;
}

/** The primary: the process that starts and replaces workers. */
export interface CliPrimary {
  start(): Promise<{ readonly url: string; readonly notices: readonly string[] }>;
  restart(): Promise<void>;
  close(): Promise<void>;
  kill(): void;
}

/** The service, as commands use it. */
export interface CliService {
  /** Lines for the operator; complete when the service listens. */
  readonly notices: readonly string[];
  /** Creates the setup token that start prints. Returns undefined if an admin exists or setup is off. */
  openSetup(): Promise<string | undefined>;
  /** Migrates the tables without listening. */
  prepare(): Promise<void>;
  listen(): Promise<{ readonly url: string }>;
  /** Applies the policies in files, reloads them and the definitions when files change, and logs each change. */
  watch(log: (line: string) => void): Promise<void>;
  policiesFromPermissions(options: { readonly apply: boolean }): Promise<CliPermissionPolicies>;
  /** Imports policies as an admin. Returns a message for the operator. */
  importPolicies(file: CliPolicyFile): Promise<string>;
  /** Applies the policies of files as an admin: all or none. */
  applyPolicies(application: CliApplication): Promise<CliApplied>;
  /** Assigns a policy to a user or role as an admin. Returns a message for the operator. */
  assignPolicy(assignment: CliAssignment): Promise<string>;
  /** Removes an assignment as an admin. Returns a message for the operator. */
  unassignPolicy(assignment: CliUnassignment): Promise<string>;
  /** Restores a past version of a policy as an admin. */
  rollBackPolicy(rollback: CliRollback): Promise<CliRolledBack>;
  /** Compares policies with those in force, and replays recorded decisions under both. */
  comparePolicies(compared: CliComparedPolicies): Promise<CliPolicyComparison>;
  /** Exports every policy, in chunks of a file. */
  exportPolicies(format: 'json' | 'ndjson'): Promise<AsyncIterable<string>>;
  /** Restores the policy that gives admins full access; `closing` are the rules that still deny admins. */
  restoreAdminPolicy(): Promise<{ readonly message: string; readonly closing: readonly string[] }>;
  /** Sets the password of a user and ends all their sessions. Returns a message for the operator. */
  setPassword(given: { readonly email: string; readonly password: string }): Promise<string>;
  /** Creates a user. Returns a message for the operator. */
  createUser(given: CliUser): Promise<string>;
  /** Gives a user a role and activates them. Returns a message for the operator. */
  promoteUser(given: { readonly email: string; readonly role: string }): Promise<string>;
  /** Imports a file as a user. Yields a line of JSON per rejected row, then a summary. */
  importFile(file: CliImportFile): Promise<AsyncIterable<string>>;
  /** Exports records as a user, in chunks of a file. */
  exportFile(file: CliTransfer & { readonly body: CliExportBody }): Promise<AsyncIterable<string>>;
  /** Finishes the requests in flight, commits, and closes the server and the database. */
  close(how?: { readonly isReplaced?: boolean }): Promise<void>;
}

/** The tables of a project, as commands use them. */
export interface CliTables {
  plan(): Promise<CliMigrationPlan>;
  /** Performs the steps that lose no data, and the lossy steps of the plan with the allowed hash. */
  apply(options: {
    readonly allow?: string | undefined;
  }): Promise<{ readonly plan: CliMigrationPlan; readonly done: readonly CliMigrationStep[] }>;
  /** Returns the applied migrations, newest first. */
  history(limit: number): Promise<readonly CliMigration[]>;
  /** Returns the soft-deleted records by resource. */
  deletedRecords(): Promise<readonly CliDeletedRecords[]>;
  /**
   * Plans the permanent deletion of archived tables and columns; with `deletedBefore`, also of the records that were soft-deleted more than
   * this number of days ago.
   */
  planPrune(options: { readonly deletedBefore?: number | undefined }): Promise<CliMigrationPlan>;
  prune(options: { readonly deletedBefore?: number | undefined }): Promise<readonly CliMigrationStep[]>;
  /** Ends every session, begins a new revision and appends an audit entry, after a restore with tools of PostgreSQL. */
  noteRestored(): Promise<void>;
  close(): Promise<void>;
}

/** The backups of a project, as commands use them. */
export interface CliBackups {
  write(file: string, log: CliProgressLog): Promise<Pick<CliRestoreResult, 'bytes' | 'damaged'> & { readonly file: string }>;
  /** Returns a preview of a restore, without restoring. */
  look(file: string): Promise<CliRestoreResult>;
  restore(file: string, log: CliProgressLog): Promise<CliRestoreResult>;
}

/** Receives a line at the beginning of each stage. */
export interface CliProgressLog {
  readonly show: (line: string) => void;
}

/** The result of a restore, or the preview of one. */
export interface CliRestoreResult {
  readonly bytes: number;
  /** The newest audit entry in the backup. */
  readonly until: string | undefined;
  /** Number of audit entries that the present database has and the backup lacks. */
  readonly entriesSince: number;
  readonly damaged: readonly string[];
  /** The backup of the previous database, after a restore. */
  readonly kept: string | undefined;
}

/** The soft-deleted records of a resource. */
export interface CliDeletedRecords {
  readonly resource: string;
  readonly count: number;
  readonly oldest: string;
  readonly newest: string;
}

/** A migration step. */
export interface CliMigrationStep {
  readonly resource: string;
  readonly kind: string;
  readonly risk: string;
  readonly reason: string;
  readonly sql: readonly string[];
}

/** A migration plan. */
export interface CliMigrationPlan {
  readonly hash: string;
  readonly steps: readonly CliMigrationStep[];
  /** Resources that are not migrated, because one of their steps is blocked or lossy. */
  readonly held: readonly string[];
}

/** An applied migration. */
export interface CliMigration {
  readonly at: string;
  readonly actor: string;
  readonly planHash: string;
  readonly steps: readonly {
    readonly resource: string;
    readonly field?: string | undefined;
    readonly risk: string;
    readonly reason: string;
  }[];
  readonly durationMs: number;
}

/** The policies that correspond to the legacy permissions maps, as `POST /admin/api/policies` accepts them. */
export type CliPermissionPolicies = readonly {
  readonly policy: object;
  readonly roles: readonly string[];
  readonly state: 'missing' | 'present' | 'made';
}[];

/** A command. */
export interface CliCommand {
  /** The name as typed, such as `storage plan`. */
  readonly name: string;
  /** The text in lists of commands. */
  readonly summary: string;
  /** Further sentences for the help of the command itself. */
  readonly details?: string;
  /** Positional arguments: `<resource>`, or `[file]` if optional → help text. The command receives them among its flags, by name. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Flags of the command, in addition to the config options: flag, with `<value>` if it takes one → help text. */
  readonly flags?: Readonly<Record<string, string>>;
  /**
   * Config options in the help, of those that the command accepts: `database` shows the project and its database, `auditLog` the checkpoints too, and
   * `project` the project alone, for commands that read only its files. `none`: the command has no config options, and receives their defaults. All, by default.
   */
  readonly settings?: 'database' | 'auditLog' | 'project' | 'none';
  /** Set if the command serves until it is stopped: lines of its output that cannot be written are dropped. */
  readonly serves?: true;
  /** Runs the command and returns the exit code. */
  run(context: CliContext, config: Config, flags: CliFlags): Promise<number>;
}

/** The given flags and arguments by name: the value, or `true` for a flag that takes none. */
export type CliFlags = ReadonlyMap<string, string | true>;
