/** Parsers of bodies, headers and queries that use no pattern, or use one in a loop, searches, and texts that make a careless one slow. */
import { parseJsonInSteps, STEP_LENGTH } from '../../src/json-steps.ts';
import { includesPart } from '../../src/operators/text-search.ts';
import { parseQuery } from '../../src/request/index.ts';
import { parseJson } from '../../src/strict-json.ts';
import { formatOfType, readObjects } from '../../src/transfer/formats/index.ts';

/** A text that repeats a part, after a prefix and before a suffix. */
export interface RepeatedPart {
  readonly prefix: string;
  readonly part: string;
  readonly suffix: string;
}

/** A parser, and the texts to give to it. */
export interface ParserCase {
  readonly name: string;
  readonly parse: (text: string) => unknown;
  readonly texts: readonly RepeatedPart[];
}

const PARTS = [
  ...['1', '-', '\\', '"', '\\"', '{', '[', '{"a":', '"a":1,', ',', ':', '[0],', 'a', 'e', '[a]', '&', '%20', '=', ';', ' ', '\n', '\0'],
  '1'.repeat(308).concat('.'),
];
const TEXTS = PARTS.flatMap((part) => ['', '{', '[', '"', 'a', '{"a":'].map((prefix) => ({ prefix, part, suffix: '' })));
const SPACES = ' '.repeat(STEP_LENGTH);
const ofParts = (parts: readonly string[]): readonly RepeatedPart[] => parts.map((part) => ({ prefix: '', part, suffix: '' }));

/** The parsers whose time and number of steps must not grow faster than their text. */
export const PARSERS: readonly ParserCase[] = [
  { name: 'JSON', parse: (text) => parseJson(text, { maxDepth: 1_000_000, subject: 'the body' }), texts: TEXTS },
  { name: 'a text in JSON', parse: (text) => parseJson(`{"a":"${text}`, { maxDepth: 64, subject: 'the body' }), texts: TEXTS },
  {
    name: 'a long JSON text',
    // The white space makes it too long to be parsed at once.
    parse: (text) => Array.from(parseJsonInSteps(SPACES + text, { maxDepth: 1_000_000, subject: 'the body' })),
    texts: TEXTS,
  },
  {
    name: 'a query',
    parse: (text) => parseQuery(text, { parameters: 1_000_000, depth: 1_000_000, keyLength: 1_000_000, valueLength: 1_000_000 }),
    texts: TEXTS,
  },
  { name: 'a media type', parse: (text) => formatOfType(text), texts: TEXTS },
  {
    name: 'JSON with a duplicate name',
    parse: (text) => parseJson(withDuplicate(text), { maxDepth: 64, subject: 'the body' }),
    texts: ofParts(['[],', '{"a":[]},', '"\\\\",', '0,']),
  },
  {
    name: 'a part in a text',
    parse: (text) => includesPart(text, `${text.slice(text.length / 2)}!${text.slice(0, 260)}`),
    texts: ofParts(['a', 'ab', 'aab']),
  },
  { name: 'lines', parse: parseLines, texts: ofParts(['{"a":1}\n', '\n', ' ', '"', '{', '\\"']) },
];

/** Returns the text with the repeated part, of the given length or a little longer. */
export function textOf({ prefix, part, suffix }: RepeatedPart, length: number): string {
  return `${prefix}${part.repeat(Math.ceil(length / part.length))}${suffix}`;
}

/** Runs a parser. The text may be refused. */
export async function tryParse(parse: (text: string) => unknown, text: string): Promise<void> {
  try {
    await parse(text);
  } catch {
    // Only the work of the parser is of interest.
  }
}

function withDuplicate(text: string): string {
  const names = Array.from({ length: text.length / 8 }, (_, index) => `"n${index}":1`);
  return `{"z":[${text}{}],"a":1,${names.join(',')},"a":2}`;
}

async function parseLines(text: string): Promise<void> {
  const bytes = Buffer.from(text);
  // In chunks, as from a connection.
  const chunks = Array.from({ length: Math.ceil(bytes.length / 1000) }, (_, index) => bytes.subarray(1000 * index, 1000 * (index + 1)));
  for await (const { row } of readObjects(chunks, { rowLength: 1_000_000, depth: 64 })) if (row < 1) throw new Error('rows begin with 1');
}
