import { didYouMean, type Issue, Problem } from '../errors.ts';
import { type Json, ownValue } from '../operators/index.ts';

/** The permitted length of a text in characters, inclusive. */
interface TextRule {
  readonly min: number;
  readonly max: number;
  readonly isOptional?: boolean;
}

/** The members of a request body that are valid strings, and an issue for every mistake. */
export interface ParsedTexts<Name extends string> {
  readonly texts: Readonly<Partial<Record<Name, string>>>;
  readonly issues: readonly Issue[];
}

/**
 * Parses a body that must be an object with exactly these texts.
 *
 * @throws Problem VALUE_INVALID with every mistake.
 */
export function parseTexts<Name extends string>(
  body: Json | undefined,
  rules: Readonly<Record<Name, TextRule>>,
): Readonly<Record<Name, string>> {
  const { texts, issues } = parseSomeTexts(body, rules);
  if (issues.length > 0) throw toInvalidProblem(issues);
  return texts as Record<Name, string>;
}

/** Parses a body like `parseTexts` and returns the issues, for a caller that adds issues of its own. */
export function parseSomeTexts<Name extends string>(body: Json | undefined, rules: Readonly<Record<Name, TextRule>>): ParsedTexts<Name> {
  const names = Object.keys(rules) as Name[];
  const texts: Partial<Record<Name, string>> = {};
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { texts, issues: [{ path: '', code: 'type', detail: `expected an object with ${names.join(', ')}` }] };
  }
  const issues = [...unknownMembers(body, names)];
  for (const name of names) {
    const value = ownValue(body, name);
    if (value === undefined && rules[name].isOptional === true) continue;
    const issue = issueOf(value, rules[name]);
    if (issue === undefined) texts[name] = value as string;
    else issues.push({ path: name, ...issue });
  }
  return { texts, issues };
}

/** Converts the issues of a body to a problem. */
export function toInvalidProblem(errors: readonly Issue[]): Problem {
  return new Problem('VALUE_INVALID', `${errors.length} ${errors.length === 1 ? 'value is' : 'values are'} not acceptable`, { errors });
}

function* unknownMembers(body: object, names: readonly string[]): Generator<Issue> {
  for (const name of Object.keys(body)) {
    if (names.includes(name)) continue;
    const path = name.slice(0, 64);
    yield { path, code: 'unknown', detail: `expected ${names.join(', ')} and nothing else${didYouMean(path, names)}` };
  }
}

function issueOf(value: Json | undefined, { min, max }: TextRule): Omit<Issue, 'path'> | undefined {
  if (value === undefined) return { code: 'required', detail: 'expected text, given nothing' };
  if (typeof value !== 'string') return { code: 'type', detail: `expected text, given ${kindOf(value)}` };
  if (value.length < min || value.length > max)
    return { code: value.length < min ? 'tooShort' : 'tooLong', detail: `expected ${min} to ${max} characters, given ${value.length}` };
  return undefined;
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value;
}
