import { isIP } from 'node:net';
import type { IssueCode } from '../errors.ts';
import { parseDate, parseInstant } from '../operators/index.ts';

/** A mistake in a text: its code, and the expected form. */
export interface FormatMistake {
  readonly code: IssueCode;
  readonly expected: string;
}

const CONTROL = /[\p{Cc}\p{Cs}]/u;
const CONTROL_WITHOUT_LINES = /(?![\t\r\n])[\p{Cc}\p{Cs}]/u;

/** The values of `format` in schemas of endpoints. Each function returns the mistake in a text; undefined if there is none. */
export const TEXT_FORMATS: ReadonlyMap<string, (text: string) => FormatMistake | undefined> = new Map([
  [
    'date-time',
    (text) => orUndefined(parseInstant(text) === undefined, 'format', 'a timestamp with its offset, such as 2026-01-31T09:00:00Z'),
  ],
  [
    'instant',
    (text) =>
      orUndefined(
        parseInstant(text) === undefined && parseDate(text) === undefined,
        'format',
        'a date such as 2026-01-31, or a timestamp with its offset, such as 2026-01-31T09:00:00Z',
      ),
  ],
  ['ip', (text) => orUndefined(isIP(text) === 0, 'format', 'an IP address')],
  ['text', (text) => findCharacters(text, CONTROL)],
  ['line', (text) => findTextMistake(text, CONTROL)],
  ['lines', (text) => findTextMistake(text, CONTROL_WITHOUT_LINES)],
]);

function findTextMistake(text: string, control: RegExp): FormatMistake | undefined {
  if (text.trim() === '') return { code: 'tooShort', expected: 'a text that is not empty' };
  return findCharacters(text, control);
}

function findCharacters(text: string, control: RegExp): FormatMistake | undefined {
  return orUndefined(control.test(text), 'characters', 'text without control characters and unpaired surrogates');
}

function orUndefined(isMistake: boolean, code: IssueCode, expected: string): FormatMistake | undefined {
  return isMistake ? { code, expected } : undefined;
}
