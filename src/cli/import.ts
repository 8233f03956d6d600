import type { Config } from '../config/index.ts';
import { FORMATS } from '../transfer/formats/index.ts';
import type { CommandImport } from '../transfer/index.ts';
import type { CliCommand, CliContext, CliFlags } from './cli-context.ts';
import { requireFlag } from './flags.ts';
import { createProgress } from './progress.ts';
import { runInterruptibly, withInput } from './signals.ts';
import { csvQueryOf, parseFormat, TRANSFER_FLAGS } from './transfer-flags.ts';
import { withService } from './with-service.ts';

/** Imports a file as a user; each row is decided and audited. */
export const importFile: CliCommand = {
  name: 'import',
  summary: 'import records from a file or standard input, as a user',
  details: 'The policies of the user decide on each row. Rejected rows are printed to standard output as JSON; the exit code is then 1.',
  parameters: { '<resource>': 'name of the resource', '<file>': 'file to read; - is standard input' },
  flags: {
    ...TRANSFER_FLAGS,
    '--mode <mode>': 'create, or upsert to also update the record with the same --key (default: create)',
    '--key <field>': 'unique field by which upsert finds records',
    '--on-error <action>': 'stop at a rejected row, or skip it (default: stop)',
    '--atomic': 'import all rows or none',
    '--dry-run': 'decide and validate every row, store nothing',
  },
  async run(context, config, flags) {
    const file = requireFlag(flags, 'file');
    const format = parseFormat(flags, file);
    const request = { resource: requireFlag(flags, 'resource'), as: requireFlag(flags, 'as'), query: parseQuery(flags, file) };
    const mediaType = FORMATS.get(format)?.types[0] ?? '';
    return runInterruptibly(context, async (stop) => {
      const input = { bytes: await context.openInput(file, stop), stop };
      return withInput(input, (bytes) => runImport(context, config, { ...request, mediaType, bytes }));
    });
  },
};

async function runImport(context: CliContext, config: Config, request: Omit<CommandImport, 'onProgress'>): Promise<number> {
  return withService(context, { config }, async (service) => {
    const progress = createProgress(context);
    try {
      return await printReport(context, await service.importFile({ ...request, onProgress: progress.add }));
    } finally {
      progress.end();
    }
  });
}

/** Prints rejected rows to standard output and the summary, which is the last line, to standard error. */
async function printReport(context: CliContext, lines: AsyncIterable<string>): Promise<number> {
  let last = '';
  for await (const line of lines) {
    if (last !== '') context.print(last);
    last = line.trimEnd();
  }
  const { success, message, detail, data } = JSON.parse(last) as Summary;
  context.printError(success ? String(message) : `stopped: ${String(detail)}`);
  return success && data?.rejected === 0 ? 0 : 1;
}

interface Summary {
  readonly success: boolean;
  readonly message?: string;
  readonly detail?: string;
  readonly data?: { readonly rejected: number };
}

function parseQuery(flags: CliFlags, file: string): ReadonlyMap<string, string> {
  const query = csvQueryOf(flags, file);
  for (const name of ['mode', 'key', 'onError', 'atomic', 'dryRun']) {
    const value = flags.get(name);
    if (value !== undefined) query.set(name, String(value));
  }
  return query;
}
