import type { PolicyOfFile } from '../api/index.ts';
import type { ProjectDecisions, ProjectPolicyHistory } from '../audit-log-commands.ts';
import type { Config } from '../config/index.ts';
import type { PolicyLintReport, PolicyTestReport, ProjectCheck } from '../policy-file-commands.ts';
import type {
  CreatedProject,
  DecisionsToPrune,
  NewProject,
  ProjectBackups,
  ProjectStatus,
  PrunedDecisions,
  Tables,
  VerifiedData,
  VerifiedDecisions,
} from '../project/index.ts';
import type { Service } from '../service.ts';
import type { Primary, PrimaryLink } from '../workers/index.ts';

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
  readonly primary?: Pick<PrimaryLink, 'ready' | 'onEnd'> | undefined;
  /** Creates the primary of several workers. */
  createPrimary(config: Config): Promise<Primary>;
  /** Creates a service. In development its denials contain the address of their explanation. */
  createService(config: Config, options?: { readonly isDevelopment: boolean }): Promise<Service>;
  /** Creates the files of a project. */
  createProject(project: NewProject): Promise<CreatedProject>;
  /** Opens the tables of a project, without a service. */
  openTables(config: Config): Promise<Tables>;
  /** Opens the backups of a project. */
  openBackups(config: Config): Promise<ProjectBackups>;
  /** Returns the OpenAPI document with all resources of a project, as JSON. */
  renderOpenApi(config: Config): Promise<string>;
  /** Returns the state of a project's data. */
  loadStatus(config: Config): Promise<ProjectStatus>;
  /** Opens the audit log of a project for reading. */
  openDecisions(config: Config): Promise<ProjectDecisions>;
  /** Verifies the audit log of a project. */
  verifyDecisions(config: Config, options: { readonly publicKey: string | undefined }): Promise<VerifiedDecisions>;
  /** Verifies the database, the checksums of its rows, and the audit log. */
  verifyData(config: Config, options: { readonly publicKey: string | undefined }): Promise<VerifiedData>;
  /** Writes new checksums of damaged rows. Returns a description of each. */
  resealData(config: Config): Promise<readonly string[]>;
  /** Returns a TypeScript module with the types of a project's resources. */
  renderTypes(config: Config): Promise<string>;
  /** Returns the policies in the folder of a project, each with its file. Throws if there is none, unless `mayBeEmpty` is set. */
  readPolicies(config: Config, options?: { readonly mayBeEmpty: boolean }): Promise<readonly PolicyOfFile[]>;
  /** Opens the history of a project's policies for reading. */
  openPolicyHistory(config: Config): Promise<ProjectPolicyHistory>;
  /** Returns the findings about a project's policies. */
  lintPolicies(config: Config): Promise<PolicyLintReport>;
  /** Checks a project's definitions, policies and tests. */
  checkProject(config: Config): Promise<ProjectCheck>;
  /** Runs the tests of a project's policies. */
  testPolicies(config: Config): Promise<PolicyTestReport>;
  /** Deletes old audit entries of a project. */
  pruneDecisions(config: Config, options: DecisionsToPrune): Promise<PrunedDecisions>;
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
