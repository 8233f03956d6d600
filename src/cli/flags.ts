import { SetupError } from '../errors.ts';
import { FORMATS, type Format } from '../transfer/formats/index.ts';
import type { CliFlags } from './cli-context.ts';

/** Switches that imports and exports share. */
export const TRANSFER_FLAGS: Readonly<Record<string, string>> = {
  '--as <email>': 'the user whose policies decide: audit entries name them',
  '--format <format>': 'ndjson, csv or json (default: by the extension of the file)',
  '--delimiter <text>': 'delimiter of CSV: "," or ";" or "tab" (default: ",")',
  '--raw-cells': 'do not escape CSV cells that a spreadsheet would run as formulas',
};

/** The switch of commands that write a file. */
export const FORCE_FLAG: Readonly<Record<string, string>> = { '--force': 'replace the file if it exists (default: refuse)' };

/** The format that is said, or that the file's name says. */
export function readFormat(switches: CliFlags, file: string): Format {
  const said = switches.get('format');
  const extension = /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase() ?? '';
  const found =
    said === undefined
      ? [...FORMATS.values()].find(({ extensions }) => (extensions as readonly string[]).includes(extension))
      : FORMATS.get(String(said));
  if (found !== undefined) return found.name;
  const given = said === undefined ? `the name of "${file}", which says none` : `"${String(said)}"`;
  throw new SetupError(`expected --format ${[...FORMATS.keys()].join(' or ')}, given ${given}`);
}

/** The format of a file of policies; JSON where nothing says it. */
export function readPolicyFormat(switches: CliFlags, file: string): 'json' | 'ndjson' {
  const isNamed = switches.has('format') || /\.[a-z]+$/i.test(file);
  const format = isNamed ? readFormat(switches, file) : 'json';
  if (format === 'csv') throw new SetupError('expected --format json or ndjson, given csv: no table holds a policy');
  return format;
}

/** How cells are written, as the query of the address says it. */
export function readCells(switches: CliFlags, file: string): Map<string, string> {
  const delimiter = switches.get('delimiter') ?? (/\.tsv$/i.test(file) ? 'tab' : undefined);
  return new Map([
    ...(delimiter === undefined ? [] : [['delimiter', String(delimiter)] as const]),
    ...(switches.has('rawCells') ? [['escape', 'false'] as const] : []),
  ]);
}

/** What a switch or an argument says. Throws SetupError where it is missing. */
export function readNamed(switches: CliFlags, name: string): string {
  const value = switches.get(name);
  if (typeof value === 'string' && value !== '') return value;
  throw new SetupError(`expected ${name === 'as' ? '--as with the email of a user' : name}, given none`);
}
