import type { Config } from '../config/index.ts';
import type { CliContext, CliFlags } from './cli-context.ts';
import { findFlag, requireFlag } from './flags.ts';
import { withProgress } from './progress.ts';
import { runInterruptibly, withInput } from './signals.ts';
import { withService } from './with-service.ts';

/** The flags of commands that change assignments as an admin. */
export const ADMIN_CHANGE_FLAGS: Readonly<Record<string, string>> = {
  '--as <email>': 'admin whom the audit entry names',
  '--reason <text>': 'reason of the change, which the history and the audit log keep',
};

/** The flags of commands that change policies as an admin. */
export const POLICY_CHANGE_FLAGS: Readonly<Record<string, string>> = {
  ...ADMIN_CHANGE_FLAGS,
  '--dry-run': 'validate the policies and print what would change, store nothing',
};

/** A command that changes policies, as it was called. */
export interface PolicyCommand {
  readonly context: CliContext;
  readonly config: Config;
  readonly flags: CliFlags;
}

/** Policies to import. */
export interface PolicySource {
  /** The words for the policies in the progress line. */
  readonly from: string;
  readonly mediaType: string;
  /** Opens the policies. Aborting `stop` ends the read. */
  open(stop: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

/** Imports policies, all or none, in one revision and with one audit entry. Returns the exit code. */
export async function runPolicyImport({ context, config, flags }: PolicyCommand, source: PolicySource): Promise<number> {
  const request = {
    as: requireFlag(flags, 'as'),
    mediaType: source.mediaType,
    dryRun: flags.has('dryRun'),
    reason: findFlag(flags, 'reason'),
  };
  return runInterruptibly(context, async (stop) => {
    const input = { bytes: await source.open(stop), stop };
    return withInput(input, (bytes) =>
      withService(context, { config, createsDatabase: !request.dryRun }, async (service) => {
        const lines = await withProgress(context, (show) => {
          show(`importing the policies of ${source.from}`);
          return service.importPolicies({ ...request, bytes });
        });
        for (const line of lines) context.print(line);
        return 0;
      }),
    );
  });
}
