import { didYouMean, type Issue, Problem } from '../errors.ts';
import { type Json, ownValue } from '../operators/index.ts';

/** How long a text must be, in characters. */
interface Length {
  readonly min: number;
  readonly max: number;
  readonly isOptional?: boolean;
}

/** What was read of a body: the texts that are as they should be, and every mistake. */
export interface ParsedTexts<Name extends string> {
  readonly texts: Readonly<Partial<Record<Name, string>>>;
  readonly issues: readonly Issue[];
}

/**
 * Reads a body that is an object of these texts, all of them and nothing else.
 *
 * @throws Problem VALUE_INVALID listing every mistake.
 */
export function parseTexts<Name extends string>(
  body: Json | undefined,
  wanted: Readonly<Record<Name, Length>>,
): Readonly<Record<Name, string>> {
  const { texts, issues } = parseSomeTexts(body, wanted);
  if (issues.length > 0) throw invalid(issues);
  return texts as Record<Name, string>;
}

/** Reads what can be read of such a body, for who has more to say of it before refusing. */
export function parseSomeTexts<Name extends string>(body: Json | undefined, wanted: Readonly<Record<Name, Length>>): ParsedTexts<Name> {
  const names = Object.keys(wanted) as Name[];
  const texts: Partial<Record<Name, string>> = {};
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { texts, issues: [{ path: '', code: 'type', detail: `expected an object with ${names.join(', ')}` }] };
  }
  const issues = [...unknownMembers(body, names)];
  for (const name of names) {
    const value = ownValue(body, name);
    if (value === undefined && wanted[name].isOptional === true) continue;
    const mistake = mistakeIn(value, wanted[name]);
    if (mistake === undefined) texts[name] = value as string;
    else issues.push({ path: name, ...mistake });
  }
  return { texts, issues };
}

/** The problem of a body with these mistakes. */
export function invalid(errors: readonly Issue[]): Problem {
  return new Problem('VALUE_INVALID', `${errors.length} ${errors.length === 1 ? 'value is' : 'values are'} not acceptable`, { errors });
}

function* unknownMembers(body: object, names: readonly string[]): Generator<Issue> {
  for (const name of Object.keys(body)) {
    if (names.includes(name)) continue;
    const path = name.slice(0, 64);
    yield { path, code: 'unknown', detail: `expected ${names.join(', ')} and nothing else${didYouMean(path, names)}` };
  }
}

function mistakeIn(value: Json | undefined, { min, max }: Length): Omit<Issue, 'path'> | undefined {
  if (value === undefined) return { code: 'required', detail: 'expected text, given nothing' };
  if (typeof value !== 'string') return { code: 'type', detail: `expected text, given ${kindOf(value)}` };
  if (value.length < min || value.length > max)
    return { code: 'length', detail: `expected ${min} to ${max} characters, given ${value.length}` };
  return undefined;
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value;
}
