/**
 * Parses JSON texts from outside with `JSON.parse`, and refuses input that `JSON.parse` accepts silently: duplicate names (only the last
 * is kept), numbers that are rounded to infinity, and nesting too deep for code that walks the value.
 */
import { Problem } from './errors.ts';
import type { Json } from './operators/index.ts';

/** The limits of a JSON text, and its name in messages. */
export interface JsonText {
  readonly maxDepth: number;
  /** The name of the text in messages, such as `the body`. */
  readonly subject: string;
}

/**
 * Parses a JSON text, in linear time.
 *
 * @throws Problem REQUEST_MALFORMED
 */
export function parseJson(text: string, { maxDepth, subject }: JsonText): Json {
  const written = countWritten(text, { maxDepth, subject });
  const value = parse(text, subject);
  // The parser keeps only the last of several equal names, also of escaped ones, so the value has fewer members than the text.
  if (countMembers(value, subject) !== written) throw toDuplicate(findDuplicate(text), subject);
  return value;
}

function parse(text: string, subject: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new Problem('REQUEST_MALFORMED', `${subject} is not valid JSON${placeOf(error)}`, { cause: error });
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const [OPENING_LIST, CLOSING_LIST] = [0x5b, 0x5d];
const [OPENING_OBJECT, CLOSING_OBJECT] = [0x7b, 0x7d];

/** Counts the members of all objects in the text, by their colons outside of strings. Rejects nesting deeper than `maxDepth`. */
function countWritten(text: string, { maxDepth, subject }: JsonText): number {
  let depth = 0;
  let members = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COLON) members++;
    else if (code === OPENING_OBJECT || code === OPENING_LIST) {
      depth++;
      if (depth > maxDepth) throw refuseDepth({ maxDepth, subject });
    } else if (code === CLOSING_OBJECT || code === CLOSING_LIST) depth--;
  }
  return members;
}

/** Counts the members of all objects in a value. Rejects numbers such as 1e400, which become infinity: the audit log cannot store it. */
function countMembers(value: Json, subject: string): number {
  if (typeof value === 'number' && !Number.isFinite(value)) throw refuseInfinity(subject);
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) members += countMembers(item, subject);
    return members;
  }
  for (const member of Object.values(value)) members += 1 + countMembers(member, subject);
  return members;
}

/** Returns the problem of a text that nests too deeply. */
export function refuseDepth({ maxDepth, subject }: JsonText): Problem {
  return new Problem('REQUEST_MALFORMED', `expected at most ${maxDepth} levels of nesting in ${subject}, more were given`);
}

/** Returns the problem of a number that becomes infinity. */
export function refuseInfinity(subject: string): Problem {
  return new Problem('REQUEST_MALFORMED', `${subject} has a number that is too large: expected numbers below 1.8e308`);
}

/**
 * Returns the index of the closing quote of the string that starts at `start`, or the length of the text if the string is not closed. The
 * search in a string that is longer than `maxLength` ends at the next quote after that length.
 */
export function endOfString(text: string, start: number, maxLength = Number.POSITIVE_INFINITY): number {
  let at = start;
  for (;;) {
    at = text.indexOf('"', at + 1);
    if (at === -1) return text.length;
    if (at - start > maxLength) return at;
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
  }
}

/** An object or a list that is not closed yet, and its current member or item. */
interface Open {
  /** The member names found so far; undefined for a list. */
  readonly names: Set<string> | undefined;
  at: string | number;
  expectsName: boolean;
}

/** Returns the path of the first duplicate name in a valid JSON text. */
function findDuplicate(text: string): readonly (string | number)[] {
  const open: Open[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const inner = open.at(-1);
    if (code === QUOTE) {
      const start = at;
      at = endOfString(text, start);
      if (inner?.names === undefined || !inner.expectsName) continue;
      const name = JSON.parse(text.slice(start, at + 1)) as string;
      inner.at = name;
      inner.expectsName = false;
      if (inner.names.has(name)) return open.map((each) => each.at);
      inner.names.add(name);
    } else if (code === OPENING_OBJECT) open.push({ names: new Set(), at: '', expectsName: true });
    else if (code === OPENING_LIST) open.push({ names: undefined, at: 0, expectsName: false });
    else if (code === CLOSING_OBJECT || code === CLOSING_LIST) open.pop();
    else if (code === COMMA && inner !== undefined) {
      if (typeof inner.at === 'number') inner.at++;
      else inner.expectsName = true;
    }
  }
  return [];
}

const SHOWN_NAME = 64;
const SHOWN_PATH = 500;

/** Returns the problem of a name that an object has twice. `steps` are the names and positions that lead to it. */
export function toDuplicate(steps: readonly (string | number)[], subject: string): Problem {
  const path = steps
    .map((step) => String(step).slice(0, SHOWN_NAME))
    .join('.')
    .slice(0, SHOWN_PATH);
  const name = JSON.stringify(String(steps.at(-1)).slice(0, SHOWN_NAME));
  const detail = `expected each name of an object once, ${name} was given twice`;
  return new Problem('REQUEST_MALFORMED', `${subject} has a name twice: ${path}`, { errors: [{ path, code: 'duplicate', detail }] });
}

/** Returns the line and column from the message of a parser error. Omits the rest of the message, which quotes the input. */
function placeOf(error: unknown): string {
  const [, line, column] = /line (\d+) column (\d+)/.exec(error instanceof Error ? error.message : '') ?? [];
  return line === undefined || column === undefined ? '' : `: line ${line}, column ${column}`;
}
