import { SetupError } from '../errors.ts';
import { FORMATS, type Format } from '../transfer/formats/index.ts';
import type { CliFlags } from './cli-context.ts';

/** Flags that imports and exports share. */
export const TRANSFER_FLAGS: Readonly<Record<string, string>> = {
  '--as <email>': 'user whose policies decide, and whom audit entries name',
  '--format <format>': 'ndjson, csv or json (default: by the extension of the file)',
  '--delimiter <text>': 'delimiter of CSV: "," or ";" or "tab" (default: ",")',
  '--raw-cells': 'do not escape CSV cells that a spreadsheet would run as formulas',
};

/** The flag of commands that write a file. */
export const FORCE_FLAG: Readonly<Record<string, string>> = { '--force': 'replace the file if it exists' };

/** Returns the format named by `--format`, or by the extension of the file. @throws SetupError if neither names a format. */
export function parseFormat(flags: CliFlags, file: string): Format {
  const named = flags.get('format');
  const extension = /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase() ?? '';
  const found =
    named === undefined
      ? [...FORMATS.values()].find(({ extensions }) => (extensions as readonly string[]).includes(extension))
      : FORMATS.get(String(named));
  if (found !== undefined) return found.name;
  const expected = `expected --format ${[...FORMATS.keys()].join(' or ')}`;
  if (named !== undefined) throw new SetupError(`${expected}, given "${String(named)}"`);
  throw new SetupError(
    `${expected}: ${file === '-' ? 'it has no default without a file' : `the name of "${file}" has none of these extensions`}`,
  );
}

/** Returns the format of a file of policies; the default is JSON. @throws SetupError for CSV. */
export function parsePolicyFormat(flags: CliFlags, file: string): 'json' | 'ndjson' {
  const isNamed = flags.has('format') || /\.[a-z]+$/i.test(file);
  const format = isNamed ? parseFormat(flags, file) : 'json';
  if (format === 'csv') throw new SetupError('expected --format json or ndjson, given csv: policies cannot be written as a table');
  return format;
}

/** Returns the query parameters for the CSV flags. */
export function csvQueryOf(flags: CliFlags, file: string): Map<string, string> {
  const delimiter = flags.get('delimiter') ?? (/\.tsv$/i.test(file) ? 'tab' : undefined);
  return new Map([
    ...(delimiter === undefined ? [] : [['delimiter', String(delimiter)] as const]),
    ...(flags.has('rawCells') ? [['escape', 'false'] as const] : []),
  ]);
}
