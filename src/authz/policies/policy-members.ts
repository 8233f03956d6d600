import { didYouMean, type Issue } from '../../errors.ts';
import { describeValue, type Json, type JsonObject, ownValue } from '../../operators/index.ts';

/** The object that is parsed, and the mistakes found so far. */
export interface PolicyParsing {
  readonly input: JsonObject;
  /** Path of `input` in the body; empty for the body itself. */
  readonly at: string;
  /** Mistakes are added here. */
  readonly issues: Issue[];
}

interface TextBounds {
  readonly max: number;
  /** True if the text may have several lines. */
  readonly lines?: boolean;
}

/** Largest absolute value of a priority. It fits a 32-bit column. */
const PRIORITY_RANGE = 1_000_000_000;

/** Adds an issue about the member `name`. */
export function addIssue({ at, issues }: PolicyParsing, name: string, issue: Omit<Issue, 'path'>): undefined {
  issues.push({ path: at === '' || name === '' ? `${at}${name}` : `${at}.${name}`, ...issue });
  return undefined;
}

/** Adds an issue for every unknown member. */
export function validateNames(parsing: PolicyParsing, known: readonly string[]): void {
  for (const name of Object.keys(parsing.input)) {
    if (!known.includes(name))
      addIssue(parsing, clip(name), { code: 'unknown', detail: `unknown member "${clip(name)}"${didYouMean(name, known)}` });
  }
}

/** Adds an issue for every required member that is absent. */
export function validateRequired(parsing: PolicyParsing, required: readonly string[]): void {
  for (const name of required) {
    if (ownValue(parsing.input, name) === undefined)
      addIssue(parsing, name, { code: 'required', detail: `expected "${name}", given nothing` });
  }
}

/** Adds an issue for every read-only member whose value differs from the current one. */
export function validateReadOnly(parsing: PolicyParsing, names: readonly string[], current: object | undefined): void {
  for (const name of names) {
    const given = ownValue(parsing.input, name);
    if (given !== undefined && given !== ownValue(current, name)) {
      addIssue(parsing, name, { code: 'readOnly', detail: `"${name}" is set by the service and cannot be given` });
    }
  }
}

/** Parses a text with at least one visible character. Returns undefined if the member is absent or invalid. */
export function parseText(parsing: PolicyParsing, name: string, { max, lines = false }: TextBounds): string | undefined {
  const value = ownValue(parsing.input, name);
  if (value === undefined) return undefined;
  if (typeof value !== 'string') return addTypeIssue(parsing, name, 'a text');
  const problem = findTextProblem(value, { max, lines });
  return problem === undefined ? value : addIssue(parsing, name, problem);
}

/** Parses one of the given names. Returns undefined if the member is absent or invalid. */
export function parseOneOf<Name extends string>(parsing: PolicyParsing, name: string, names: readonly Name[]): Name | undefined {
  const value = ownValue(parsing.input, name);
  if (value === undefined) return undefined;
  const found = names.find((known) => known === value);
  if (found !== undefined) return found;
  const hint = typeof value === 'string' ? didYouMean(value, names) : '';
  return addIssue(parsing, name, { code: 'enum', detail: `expected one of ${names.join(', ')}, given ${describeValue(value)}${hint}` });
}

/** Parses the member `priority`, an integer from -1,000,000,000 to 1,000,000,000. Returns undefined if it is absent or invalid. */
export function parsePriority(parsing: PolicyParsing): number | undefined {
  const value = ownValue(parsing.input, 'priority');
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value)) return addTypeIssue(parsing, 'priority', 'a whole number');
  // Adding 0 turns -0 into 0.
  if (Math.abs(value) <= PRIORITY_RANGE) return value + 0;
  return addIssue(parsing, 'priority', {
    code: 'range',
    detail: `expected a priority from -${PRIORITY_RANGE} to ${PRIORITY_RANGE}, given ${value}`,
  });
}

/** Parses a boolean. Returns undefined if the member is absent or invalid. */
export function parseFlag(parsing: PolicyParsing, name: string): boolean | undefined {
  const value = ownValue(parsing.input, name);
  if (value === undefined || typeof value === 'boolean') return value;
  return addTypeIssue(parsing, name, 'true or false');
}

/** Parses a list of texts and leaves out invalid items. Returns undefined if the member is absent, not a list, or too long. */
export function parseTextList(
  parsing: PolicyParsing,
  name: string,
  bounds: { readonly items: number; readonly max: number },
): readonly string[] | undefined {
  const value = ownValue(parsing.input, name);
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return addTypeIssue(parsing, name, 'a list of texts');
  if (value.length > bounds.items)
    return addIssue(parsing, name, { code: 'tooMany', detail: `expected at most ${bounds.items} items, given ${value.length}` });
  const texts: string[] = [];
  for (const [index, item] of (value as readonly Json[]).entries()) {
    const problem =
      typeof item === 'string'
        ? findTextProblem(item, bounds)
        : { code: 'type' as const, detail: `expected a text, given ${describeValue(item)}` };
    if (problem !== undefined) addIssue(parsing, `${name}.${index}`, problem);
    else texts.push(String(item));
  }
  return texts;
}

/** Adds an issue about a member of a wrong type. */
export function addTypeIssue(parsing: PolicyParsing, name: string, expected: string): undefined {
  return addIssue(parsing, name, { code: 'type', detail: `expected ${expected}, given ${describeValue(ownValue(parsing.input, name))}` });
}

const MESSAGE_LENGTH = 60;

function clip(text: string): string {
  return text.length <= MESSAGE_LENGTH ? text : `${text.slice(0, MESSAGE_LENGTH).toWellFormed()}…`;
}

function findTextProblem(value: string, { max, lines = false }: TextBounds): Omit<Issue, 'path'> | undefined {
  if (value.trim() === '') return { code: 'tooShort', detail: 'expected a text that is not empty' };
  if (value.length > max) return { code: 'tooLong', detail: `expected at most ${max} characters, given ${value.length}` };
  const control = lines ? /[[\p{Cc}\p{Cs}]--[\t\r\n]]/v : /[\p{Cc}\p{Cs}]/v;
  return control.test(value)
    ? { code: 'characters', detail: 'expected text without control characters and unpaired surrogates' }
    : undefined;
}
