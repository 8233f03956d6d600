/**
 * One setting: what a row of `settings-table.ts` may say, and how what is given for it is read.
 */
import { isIP } from 'node:net';
import { didYouMean } from '../errors.ts';

/** What a row of the table says. `range` makes it a whole number, `values` one of these, `each` a list, anything else a text. */
export interface OptionRow {
  readonly group: string;
  /** `<name>` in it stands for another setting; absent where the setting may be. */
  readonly default?: string | number;
  readonly range?: readonly [min: number, max: number];
  readonly values?: readonly string[];
  /** What a text must be. A secret is never a flag: other users of a machine can read command lines. */
  readonly form?: TextForm;
  /** What each item of a list must be; the list is empty by default. */
  readonly each?: TextForm;
  /** An environment variable that is used if the setting's own is absent: hosting platforms set it. */
  readonly otherwise?: string;
  readonly about: string;
}

/** The forms of text that are checked on start, not when they are first needed. */
export type TextForm = 'text' | 'secret' | 'database' | 'timezone' | 'address' | 'listening' | 'origin' | 'age' | 'issuer' | 'host';

/** What may be given for a setting: text by flag and environment, numbers and lists as such by a library's user. */
export type GivenOption = string | number | readonly string[];

/** What a setting is read as, or what is wrong with what was given, in words. */
export type ParseOption = { readonly value: string | number | readonly string[] } | { readonly mistake: string };

/** Reads what was given for one setting. A mistake never repeats a secret, nor a database's address (it may hold a password). */
export function parseOption(row: OptionRow, given: GivenOption): ParseOption {
  if (row.each !== undefined) return readList(row.each, typeof given === 'object' ? given : String(given).split(','));
  const text = String(given);
  if (row.range !== undefined) return readInteger(row.range, text);
  if (row.values !== undefined && !row.values.includes(text)) {
    return { mistake: `expected ${row.values.join(' or ')}, given "${text}"${didYouMean(text, row.values)}` };
  }
  const mistake = checks[row.form ?? 'text'](text);
  return mistake === undefined ? { value: text } : { mistake };
}

function readList(form: TextForm, given: readonly string[]): ParseOption {
  const list = given.map((item) => item.trim()).filter((item) => item !== '');
  const mistakes = list.map((item) => checks[form](item)).filter((mistake) => mistake !== undefined);
  return mistakes.length === 0 ? { value: Object.freeze(list) } : { mistake: mistakes.join('; ') };
}

function readInteger([min, max]: readonly [number, number], text: string): ParseOption {
  const number = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? { value: number } : { mistake: `expected a whole number from ${min} to ${max}, given "${text}"` };
}

const checks: { readonly [F in TextForm]: (text: string) => string | undefined } = {
  text: (text) => (text === '' ? 'expected text, given nothing' : undefined),
  secret(text) {
    const bytes = Buffer.byteLength(text);
    return bytes >= 32 ? undefined : `expected at least 32 bytes, given ${bytes}`;
  },
  database(text) {
    const fits = /^postgres(ql)?:/.test(text) ? URL.canParse(text) : /^sqlite:./.test(text);
    return fits ? undefined : 'expected sqlite:<path> or postgres://user:password@host:5432/database';
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
      : `expected origins such as https://app.example.com, or localhost for pages of this machine, given "${text}"`;
  },
};

/** A number of days, `90d`. Undefined where the text says no such thing, or more than a century. */
export function parseAge(text: string): number | undefined {
  const days = /^[1-9]\d{0,4}d$/.test(text) ? Number(text.slice(0, -1)) : Number.NaN;
  return days <= 36_500 ? days : undefined;
}

/** Where to listen: `127.0.0.1:9464`, `[::1]:9464`, `localhost:9464`. Undefined where the text says no such thing. */
export function parseListening(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([\da-f:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port > 65_535 || (bracketed !== undefined && isIP(bracketed) !== 6)) return undefined;
  return { host, port };
}

/** Returns whether an address or a name is loopback: `127.0.0.1`, `::1`, `localhost` and names below it (RFC 6761). */
export function isLoopback(name: string): boolean {
  if (isIP(name) === 4) return name.startsWith('127.');
  return name === '::1' || name === 'localhost' || name.endsWith('.localhost');
}

/** `supportedValuesOf` leaves out the names that are links, such as `Asia/Calcutta`, so what decides is whether a formatter takes it. */
function isTimeZone(text: string): boolean {
  // The default; the first formatter of a process takes as long as many modules.
  if (text === 'UTC') return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}
