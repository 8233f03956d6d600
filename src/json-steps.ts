/**
 * Parses long JSON texts in steps, because `JSON.parse` and the search for duplicate names take seconds for megabytes of small values. Refuses
 * what `parseJson` refuses, and lists and objects that are too long as soon as they are.
 */
import { Problem } from './errors.ts';
import type { Json } from './operators/index.ts';
import { endOfString, type JsonText, parseJson, refuseDepth, refuseInfinity, toDuplicate } from './strict-json.ts';

/** Maximum members of an object in a long text. A value of the type `json`, which has at most 100,000 bytes, has fewer. */
export const MAX_MEMBERS = 20_000;
/** Maximum items of a list in a long text: the largest value of the option `conditionListItems`. Adding an item to a longer array can take milliseconds. */
const MAX_ITEMS = 1_000_000;
/** Characters of a text that is parsed at once, and of a step of a longer one. */
export const STEP_LENGTH = 32_768;

/** A JSON text with limits of its parts. */
export interface LongJsonText extends JsonText {
  readonly list?: LimitedList | undefined;
  /** Maximum characters of a text or name in it, which is parsed at once. */
  readonly maxText?: number | undefined;
}

/** The limit of a list, which is the whole value or a member of it. */
export interface LimitedList {
  /** The name of the member. */
  readonly name: string;
  readonly maxItems: number;
  /** Returns the problem of a longer list. */
  refuse(): Problem;
}

/**
 * Parses a JSON text in steps of a limited length. Only a text that is longer than one step is limited in its lists and members, because the
 * others cannot have many.
 *
 * @throws Problem REQUEST_MALFORMED, or that of the limited list
 */
export function* parseJsonInSteps(text: string, options: LongJsonText): Generator<void, Json> {
  if (text.length <= STEP_LENGTH) return parseJson(text, options);
  const parsing: Parsing = { text, options, open: [], at: 0, expects: 'value', value: null };
  for (let next = STEP_LENGTH; parsing.at < text.length; ) {
    readToken(parsing);
    if (parsing.at < next) continue;
    yield;
    next = parsing.at + STEP_LENGTH;
  }
  if (parsing.expects !== 'end') throw new Problem('REQUEST_MALFORMED', `${options.subject} is not valid JSON`);
  return parsing.value;
}

/** The token that comes next. */
type Expected = 'value' | 'first item' | 'name' | 'first name' | 'colon' | 'comma' | 'end';

interface Parsing {
  readonly text: string;
  readonly options: LongJsonText;
  readonly open: Open[];
  at: number;
  expects: Expected;
  /** The whole value. */
  value: Json;
}

/** A list or an object that is not closed yet. */
type Open = OpenList | OpenObject;

interface OpenList {
  readonly items: Json[];
  readonly limit: LimitedList | undefined;
}

interface OpenObject {
  readonly items: undefined;
  readonly members: Record<string, Json>;
  count: number;
  name: string;
}

const [TAB, LINE_FEED, RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];
const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const [OPENING_LIST, CLOSING_LIST] = [0x5b, 0x5d];
const [OPENING_OBJECT, CLOSING_OBJECT] = [0x7b, 0x7d];

/** Reads the next token, or a character of white space. */
function readToken(parsing: Parsing): void {
  const code = parsing.text.charCodeAt(parsing.at);
  if (isSpace(code)) parsing.at++;
  else if (parsing.expects === 'value') readValue(parsing, code);
  else if (parsing.expects === 'comma') readComma(parsing, code);
  else if (parsing.expects === 'name') readName(parsing, code);
  else if (parsing.expects === 'colon') {
    if (code !== COLON) throw toMalformed(parsing);
    advance(parsing, 'value');
  } else if (parsing.expects === 'first item') {
    if (code === CLOSING_LIST) close(parsing);
    else readValue(parsing, code);
  } else if (parsing.expects === 'first name') {
    if (code === CLOSING_OBJECT) close(parsing);
    else readName(parsing, code);
  } else throw toMalformed(parsing);
}

function isSpace(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === RETURN || code === TAB;
}

function advance(parsing: Parsing, expects: Expected): void {
  parsing.at++;
  parsing.expects = expects;
}

function readValue(parsing: Parsing, code: number): void {
  if (code === OPENING_OBJECT) {
    const members = {};
    add(parsing, members);
    enter(parsing, { items: undefined, members, count: 0, name: '' });
    advance(parsing, 'first name');
  } else if (code === OPENING_LIST) {
    const items: Json[] = [];
    const limit = limitOf(parsing);
    add(parsing, items);
    enter(parsing, { items, limit });
    advance(parsing, 'first item');
  } else {
    add(parsing, parseToken(parsing, code === QUOTE ? endOfText(parsing) : endOfWord(parsing)));
    parsing.expects = parsing.open.length === 0 ? 'end' : 'comma';
  }
}

function enter({ open, options: { maxDepth, subject } }: Parsing, container: Open): void {
  if (open.length === maxDepth) throw refuseDepth({ maxDepth, subject });
  open.push(container);
}

/** Returns the limit of the list that begins here; undefined if it has only the limit of every list. */
function limitOf({ open, options: { list } }: Parsing): LimitedList | undefined {
  if (open.length > 1) return undefined;
  const [root] = open;
  return root === undefined || (root.items === undefined && root.name === list?.name) ? list : undefined;
}

/** Parses a text, a number or a word and moves behind it. `JSON.parse` knows their grammar, and its texts are copies that do not keep the whole text in memory. */
function parseToken(parsing: Parsing, end: number): Json {
  let value: Json;
  try {
    value = JSON.parse(parsing.text.slice(parsing.at, end)) as Json;
  } catch (error) {
    throw toMalformed(parsing, error);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw refuseInfinity(parsing.options.subject);
  parsing.at = end;
  return value;
}

/** Returns the index after a text. */
function endOfText({ text, at, options: { maxText = Number.POSITIVE_INFINITY, subject } }: Parsing): number {
  const end = endOfString(text, at, maxText + 1);
  if (end - at - 1 <= maxText) return end + 1;
  throw new Problem('REQUEST_MALFORMED', `expected texts of at most ${maxText} characters in ${subject}, a longer one was given`);
}

/** Returns the index after a number or a word. */
function endOfWord({ text, at }: Parsing): number {
  for (let end = at; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === COMMA || code === CLOSING_LIST || code === CLOSING_OBJECT || isSpace(code)) return end;
  }
  return text.length;
}

/** Adds a value to the list or object that contains it. */
function add(parsing: Parsing, value: Json): void {
  const inner = parsing.open.at(-1);
  if (inner === undefined) parsing.value = value;
  else if (inner.items === undefined) define(inner, value);
  else if (inner.items.push(value) > (inner.limit?.maxItems ?? MAX_ITEMS)) throw inner.limit?.refuse() ?? refuseItems(parsing.options);
}

function refuseItems({ subject }: LongJsonText): Problem {
  return new Problem('REQUEST_MALFORMED', `expected lists of at most ${MAX_ITEMS} items in ${subject}, more were given`);
}

function define({ members, name }: OpenObject, value: Json): void {
  // An assignment would set the prototype.
  if (name === '__proto__') Object.defineProperty(members, name, { value, configurable: true, enumerable: true, writable: true });
  else members[name] = value;
}

function readName(parsing: Parsing, code: number): void {
  const inner = parsing.open.at(-1);
  if (code !== QUOTE || inner === undefined || inner.items !== undefined) throw toMalformed(parsing);
  inner.name = parseToken(parsing, endOfText(parsing)) as string;
  const { subject } = parsing.options;
  if (Object.hasOwn(inner.members, inner.name)) throw toDuplicate(parsing.open.map(stepOf), subject);
  if (++inner.count > MAX_MEMBERS)
    throw new Problem('REQUEST_MALFORMED', `expected objects of at most ${MAX_MEMBERS} members in ${subject}, more were given`);
  parsing.expects = 'colon';
}

function stepOf(container: Open): string | number {
  return container.items === undefined ? container.name : container.items.length - 1;
}

function readComma(parsing: Parsing, code: number): void {
  const isList = parsing.open.at(-1)?.items !== undefined;
  if (code === COMMA) advance(parsing, isList ? 'value' : 'name');
  else if (code === (isList ? CLOSING_LIST : CLOSING_OBJECT)) close(parsing);
  else throw toMalformed(parsing);
}

function close(parsing: Parsing): void {
  parsing.open.pop();
  advance(parsing, parsing.open.length === 0 ? 'end' : 'comma');
}

/** Returns the problem of a mistake at the present position, with its line and column. */
function toMalformed({ text, at, options: { subject } }: Parsing, cause?: unknown): Problem {
  let [line, start] = [1, 0];
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', start)) {
    line++;
    start = end + 1;
  }
  return new Problem('REQUEST_MALFORMED', `${subject} is not valid JSON: line ${line}, column ${at - start + 1}`, { cause });
}
