/** The type of a row of `option-table.ts`, and the parsing of one value. */
import { isIP } from 'node:net';
import { didYouMean } from '../errors.ts';

/** A row of the table. With `range`, the value is a whole number; with `values`, one of these texts; with `each`, a list; otherwise a text. */
export interface OptionRow {
  readonly group: string;
  /** The default. `<name>` in it is replaced by the value of the option `name`. Absent if the option is optional or a list. */
  readonly default?: string | number;
  readonly range?: readonly [min: number, max: number];
  readonly values?: readonly string[];
  /** The form of a text. A secret has no flag, because other users of the machine can read command lines. */
  readonly form?: TextForm;
  /** The form of each item of a list; the list is empty by default. */
  readonly each?: TextForm;
  /** An environment variable that hosting platforms set; it is used if the option's own variable is absent. */
  readonly otherwise?: string;
  /** The text of the CLI help and the reference. */
  readonly about: string;
}

/** The forms of text. Values are validated on start, not at first use. */
export type TextForm = 'text' | 'secret' | 'database' | 'timezone' | 'address' | 'listening' | 'origin' | 'age' | 'issuer' | 'host';

/** A value as it is given: text from flags and environment; also numbers and lists from a program that imports the package. */
export type GivenOption = string | number | readonly string[];

/** The parsed value, or the reason why it is refused. */
export type ParsedOption = { readonly value: string | number | readonly string[] } | { readonly mistake: string };

/** Parses the value of one option. A mistake never repeats a secret or a database address, which may contain a password. */
export function parseOption(row: OptionRow, given: GivenOption): ParsedOption {
  if (row.each !== undefined) return parseList(row.each, typeof given === 'object' ? given : String(given).split(','));
  const text = String(given);
  if (row.range !== undefined) return parseInteger(row.range, text);
  if (row.values !== undefined && !row.values.includes(text)) {
    return { mistake: `expected ${row.values.join(' or ')}, given "${text}"${didYouMean(text, row.values)}` };
  }
  const mistake = checks[row.form ?? 'text'](text);
  return mistake === undefined ? { value: text } : { mistake };
}

function parseList(form: TextForm, given: readonly string[]): ParsedOption {
  const list = given.map((item) => item.trim()).filter((item) => item !== '');
  const mistakes = list.map((item) => checks[form](item)).filter((mistake) => mistake !== undefined);
  return mistakes.length === 0 ? { value: Object.freeze(list) } : { mistake: mistakes.join('; ') };
}

function parseInteger([min, max]: readonly [number, number], text: string): ParsedOption {
  const number = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? { value: number } : { mistake: `expected a whole number from ${min} to ${max}, given "${text}"` };
}

const checks: { readonly [F in TextForm]: (text: string) => string | undefined } = {
  text: (text) => (text === '' ? 'expected a text, given an empty one' : undefined),
  secret(text) {
    const bytes = Buffer.byteLength(text);
    return bytes >= 32 ? undefined : `expected at least 32 bytes, given ${bytes}`;
  },
  database(text) {
    const isPostgres = /^postgres(ql)?:/.test(text);
    if (isPostgres ? URL.canParse(text) : /^sqlite:./.test(text)) return undefined;
    // The message never repeats the address, because it may contain a password.
    const hasWrongPort = isPostgres && URL.canParse(text.replace(/:\d+(?=[/?#]|$)/, ''));
    return hasWrongPort
      ? 'expected a port up to 65535 after the host'
      : 'expected sqlite:<path> or postgres://user:password@host:5432/database';
  },
  timezone(text) {
    if (isTimeZone(text)) return undefined;
    return `expected an IANA time zone, given "${text}"${didYouMean(text, Intl.supportedValuesOf('timeZone'))}`;
  },
  address(text) {
    const [address = '', prefix] = text.split('/');
    const fits =
      isIP(address) !== 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (isIP(address) === 4 ? 32 : 128)));
    return fits ? undefined : `expected addresses or CIDRs, given "${text}"`;
  },
  listening(text) {
    return parseListening(text) === undefined ? `expected <address>:<port> such as 127.0.0.1:9464, given "${text}"` : undefined;
  },
  age(text) {
    return text === 'off' || parseAge(text) !== undefined
      ? undefined
      : `expected off, or days from 1d to 36500d such as 90d, given "${text}"`;
  },
  host(text) {
    const fits = text === '*' || /^\.?[a-z\d](?:[a-z\d.-]{0,250}[a-z\d])?$/i.test(text) || isIP(text) === 6;
    return fits ? undefined : `expected names such as api.example.com or .example.com, without a port, or *; given "${text}"`;
  },
  issuer(text) {
    return /^[^|\p{Cc}]{1,120}$/u.test(text) ? undefined : `expected issuers of at most 120 characters without "|", given "${text}"`;
  },
  origin(text) {
    const origin = URL.canParse(text) ? new URL(text).origin : undefined;
    return origin === text || text === 'localhost'
      ? undefined
      : `expected origins such as https://app.example.com, or localhost for every port of this machine, given "${text}"`;
  },
};

/** Parses a number of days such as `90d`, at most a century. Returns undefined for any other text. */
export function parseAge(text: string): number | undefined {
  const days = /^[1-9]\d{0,4}d$/.test(text) ? Number(text.slice(0, -1)) : Number.NaN;
  return days <= 36_500 ? days : undefined;
}

/** Parses an address to listen on: `127.0.0.1:9464`, `[::1]:9464`, `localhost:9464`. Returns undefined for any other text. */
export function parseListening(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([\da-f:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port > 65_535 || (bracketed !== undefined && isIP(bracketed) !== 6)) return undefined;
  return { host, port };
}

/** Returns true if an address or a name is loopback: `127.0.0.1`, `::1`, `localhost` and names below it (RFC 6761). */
export function isLoopback(name: string): boolean {
  if (isIP(name) === 4) return name.startsWith('127.');
  return name === '::1' || name === 'localhost' || name.endsWith('.localhost');
}

/** Returns true for a known time zone. Constructs a formatter, because `supportedValuesOf` omits aliases such as `Asia/Calcutta`. */
function isTimeZone(text: string): boolean {
  // UTC, the default, needs no formatter: constructing the first formatter of a process is slow.
  if (text === 'UTC') return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}
