import type { Settings } from '../settings.ts';

/** What commands need of the process around them. */
export interface CliWorld {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Prints one line for the user. */
  print(line: string): void;
  /** Prints one line about what went wrong. */
  printError(line: string): void;
  /** SIGTERM and SIGINT; the process itself has these. */
  readonly signals: SignalSource;
  /** Makes a service; `service.ts` has it. */
  createService(settings: Settings): Promise<CliService>;
}

/** Where signals come from. */
export interface SignalSource {
  on(signal: StopSignal, listener: () => void): unknown;
  off(signal: StopSignal, listener: () => void): unknown;
}

/** The signals that stop a service. */
export type StopSignal = 'SIGTERM' | 'SIGINT';

/** What commands need of the service. */
export interface CliService {
  /** What an operator should know on start, a sentence each; complete once it listens. */
  readonly notices: readonly string[];
  /** Whether no admin exists yet, so that `POST /auth/setup` makes one. */
  needsSetup(): Promise<boolean>;
  listen(): Promise<{ readonly url: string }>;
  /** Follows changes of definition files; each change is told in a sentence. */
  watch(tell: (line: string) => void): void;
  storagePlan(): Promise<StoragePlan>;
  policiesFromPermissions(options: { readonly apply: boolean }): Promise<PermissionPolicies>;
  /** Lets requests in flight end, commits, closes. */
  close(): Promise<void>;
}

/** What would have to happen for tables to follow definitions. */
export interface StoragePlan {
  readonly steps: readonly { readonly resource: string; readonly reason: string; readonly sql: readonly string[] }[];
  readonly refusals: readonly { readonly resource: string; readonly reason: string }[];
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
  /** Switches of its own, beside the settings: flag → one sentence. */
  readonly switches?: Readonly<Record<string, string>>;
  /** Answers the exit code. */
  run(world: CliWorld, settings: Settings, switches: ReadonlySet<string>): Promise<number>;
}
