import { didYouMean, type Issue } from '../../errors.ts';
import { describeValue, type Json, type JsonObject, ownValue } from '../../operators/index.ts';

/** Where a payload is read and what was wrong with it so far. */
export interface PolicyParsing {
  readonly input: JsonObject;
  /** Path of `input` in what was sent; empty for the whole. */
  readonly at: string;
  /** Grows as members are read. */
  readonly issues: Issue[];
}

interface TextBounds {
  readonly max: number;
  /** Whether the text may have several lines. */
  readonly lines?: boolean;
}

/** Priorities: whole numbers that a 32-bit column could hold. */
const PRIORITY_RANGE = 1_000_000_000;

/** Notes a mistake in the member `name`. */
export function addIssue({ at, issues }: PolicyParsing, name: string, issue: Omit<Issue, 'path'>): undefined {
  issues.push({ path: at === '' || name === '' ? `${at}${name}` : `${at}.${name}`, ...issue });
  return undefined;
}

/** Notes members that are not among the known ones. */
export function checkNames(reading: PolicyParsing, known: readonly string[]): void {
  for (const name of Object.keys(reading.input)) {
    if (!known.includes(name))
      addIssue(reading, clip(name), { code: 'unknown', detail: `unknown member "${clip(name)}"${didYouMean(name, known)}` });
  }
}

/** Notes required members that are absent. */
export function checkPresent(reading: PolicyParsing, required: readonly string[]): void {
  for (const name of required) {
    if (ownValue(reading.input, name) === undefined)
      addIssue(reading, name, { code: 'required', detail: `expected "${name}", given nothing` });
  }
}

/** Notes members that only the service sets, unless they are sent back as they are. */
export function checkUnchanged(reading: PolicyParsing, names: readonly string[], current: object | undefined): void {
  for (const name of names) {
    const given = ownValue(reading.input, name);
    if (given !== undefined && given !== ownValue(current, name)) {
      addIssue(reading, name, { code: 'readOnly', detail: `"${name}" is set by the service and cannot be given` });
    }
  }
}

/** A text of at least one visible character; undefined where absent or wrong. */
export function parseText(reading: PolicyParsing, name: string, { max, lines = false }: TextBounds): string | undefined {
  const value = ownValue(reading.input, name);
  if (value === undefined) return undefined;
  if (typeof value !== 'string') return addTypeIssue(reading, name, 'a text');
  const problem = problemOfText(value, { max, lines });
  return problem === undefined ? value : addIssue(reading, name, problem);
}

/** One of a few names; undefined where absent or wrong. */
export function parseOneOf<Name extends string>(reading: PolicyParsing, name: string, names: readonly Name[]): Name | undefined {
  const value = ownValue(reading.input, name);
  if (value === undefined) return undefined;
  const found = names.find((known) => known === value);
  if (found !== undefined) return found;
  const hint = typeof value === 'string' ? didYouMean(value, names) : '';
  return addIssue(reading, name, { code: 'value', detail: `expected one of ${names.join(', ')}, given ${describeValue(value)}${hint}` });
}

/** A whole number between -1,000,000,000 and 1,000,000,000; undefined where absent or wrong. */
export function parsePriority(reading: PolicyParsing): number | undefined {
  const value = ownValue(reading.input, 'priority');
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value)) return addTypeIssue(reading, 'priority', 'a whole number');
  // -0 would be stored, shown and compared as 0.
  if (Math.abs(value) <= PRIORITY_RANGE) return value + 0;
  return addIssue(reading, 'priority', {
    code: 'range',
    detail: `expected a priority from -${PRIORITY_RANGE} to ${PRIORITY_RANGE}, given ${value}`,
  });
}

/** True or false; undefined where absent or wrong. */
export function parseFlag(reading: PolicyParsing, name: string): boolean | undefined {
  const value = ownValue(reading.input, name);
  if (value === undefined || typeof value === 'boolean') return value;
  return addTypeIssue(reading, name, 'true or false');
}

/** A list of texts; undefined where absent or wrong. */
export function parseTextList(
  reading: PolicyParsing,
  name: string,
  bounds: { readonly items: number; readonly max: number },
): readonly string[] | undefined {
  const value = ownValue(reading.input, name);
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return addTypeIssue(reading, name, 'a list of texts');
  if (value.length > bounds.items)
    return addIssue(reading, name, { code: 'tooMany', detail: `expected at most ${bounds.items} items, given ${value.length}` });
  const texts: string[] = [];
  for (const [index, item] of (value as readonly Json[]).entries()) {
    const problem =
      typeof item === 'string' ? problemOfText(item, bounds) : { code: 'type', detail: `expected a text, given ${describeValue(item)}` };
    if (problem !== undefined) addIssue(reading, `${name}.${index}`, problem);
    else texts.push(String(item));
  }
  return texts;
}

/** Notes that a member is of another type than it must be. */
export function addTypeIssue(reading: PolicyParsing, name: string, expected: string): undefined {
  return addIssue(reading, name, { code: 'type', detail: `expected ${expected}, given ${describeValue(ownValue(reading.input, name))}` });
}

const MESSAGE_LENGTH = 60;

function clip(text: string): string {
  return text.length <= MESSAGE_LENGTH ? text : `${text.slice(0, MESSAGE_LENGTH).toWellFormed()}…`;
}

function problemOfText(value: string, { max, lines = false }: TextBounds): Omit<Issue, 'path'> | undefined {
  if (value.trim() === '') return { code: 'required', detail: 'expected a text that is not empty' };
  if (value.length > max) return { code: 'tooLong', detail: `expected at most ${max} characters, given ${value.length}` };
  const control = lines ? /[[\p{Cc}\p{Cs}]--[\t\r\n]]/v : /[\p{Cc}\p{Cs}]/v;
  return control.test(value)
    ? { code: 'characters', detail: 'expected text without control characters and unpaired surrogates' }
    : undefined;
}
