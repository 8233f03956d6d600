import type { Config } from '../config/index.ts';
import { FORMATS } from '../transfer/formats/index.ts';
import type { CliCommand, CliContext, CliFlags, CliImport } from './cli-context.ts';
import { readCells, readFormat, readNamed, TRANSFER_FLAGS } from './flags.ts';
import { createProgress } from './progress.ts';
import { createInterruption } from './signals.ts';

/** Imports a file, row by row decided and recorded as one user. */
export const importFile: CliCommand = {
  name: 'import',
  summary: 'import records from a file as a user, whose policies decide on each',
  parameters: { '<resource>': 'name of the resource', '<file>': 'file to read; - is standard input' },
  switches: {
    ...TRANSFER_FLAGS,
    '--mode <mode>': 'create, or upsert, which updates the record that has the same --key (default: create)',
    '--key <field>': 'unique field that upsert finds records by',
    '--on-error <what>': 'stop or skip where a row is rejected (default: stop)',
    '--atomic': 'import all rows or none',
    '--dry-run': 'decide and check every row, store nothing',
  },
  async run(world, settings, switches) {
    const file = readNamed(switches, 'file');
    const format = readFormat(switches, file);
    const asked = { resource: readNamed(switches, 'resource'), as: readNamed(switches, 'as'), query: readQuery(switches, file) };
    const mediaType = FORMATS.get(format)?.types[0] ?? '';
    const interruption = createInterruption(world.signals);
    try {
      const bytes = await world.openInput(file, interruption.signal);
      return await runImport(world, settings, { ...asked, mediaType, bytes });
    } finally {
      interruption.forget();
    }
  },
};

async function runImport(world: CliContext, settings: Config, asked: Omit<CliImport, 'tell'>): Promise<number> {
  const service = await world.createService({ ...settings, createDatabase: 'never' });
  const progress = createProgress(world);
  try {
    return await printLines(world, await service.importFile({ ...asked, tell: progress.tell }));
  } finally {
    progress.end();
    await service.close();
  }
}

/** Rejections go where what is printed goes, to be kept in a file; the last line says what became of all. */
async function printLines(world: CliContext, pieces: AsyncIterable<string>): Promise<number> {
  let last = '';
  for await (const piece of pieces) {
    if (last !== '') world.print(last);
    last = piece.trimEnd();
  }
  const { success, message, detail, data } = JSON.parse(last) as Summary;
  world.printError(success ? String(message) : `stopped: ${String(detail)}`);
  return success && data?.rejected === 0 ? 0 : 1;
}

interface Summary {
  readonly success: boolean;
  readonly message?: string;
  readonly detail?: string;
  readonly data?: { readonly rejected: number };
}

function readQuery(switches: CliFlags, file: string): ReadonlyMap<string, string> {
  const query = readCells(switches, file);
  for (const name of ['mode', 'key', 'onError', 'atomic', 'dryRun']) {
    const value = switches.get(name);
    if (value !== undefined) query.set(name, String(value));
  }
  return query;
}
