import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from './errors.ts';
import { type LongJsonText, MAX_MEMBERS, parseJsonInSteps, STEP_LENGTH } from './json-steps.ts';
import type { Json } from './operators/index.ts';
import { parseJson } from './strict-json.ts';

const LIMITS = { maxDepth: 8, subject: 'the body' };
const LIST = { name: 'data', maxItems: 3, refuse: () => new Problem('REQUEST_TOO_LARGE', 'too many') };
/** White space that makes a text too long to be parsed at once. */
const PADDING = ' '.repeat(STEP_LENGTH);

interface Outcome {
  readonly value?: Json;
  readonly problem?: Problem;
  readonly steps: number;
}

function parse(text: string, options: Partial<LongJsonText> = {}): Outcome {
  const parsing = parseJsonInSteps(text, { ...LIMITS, ...options });
  let steps = 1;
  try {
    let step = parsing.next();
    for (; step.done !== true; step = parsing.next()) steps++;
    return { value: step.value, steps };
  } catch (error) {
    if (error instanceof Problem) return { problem: error, steps };
    throw error;
  }
}

/** Parses the text at once; returns undefined if it is refused. */
function parseAtOnce(text: string): Json | undefined {
  try {
    return parseJson(text, LIMITS);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

const manyMembers = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"name ${index}":0`).join()}}`;

describe('a long text', () => {
  it('parses a long text to the value that it has at once', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        expect(parse(PADDING + text).value).toEqual(parseAtOnce(text));
      }),
    );
  });

  it('refuses the texts that are refused at once, and no others, if any character is wrong', () => {
    const wrong = fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', 'e', '.', ' ', '\n', '\u00a0', '\0', 't', '');
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.nat(), wrong, fc.boolean(), (text, place, character, isReplaced) => {
        const at = place % (text.length + 1);
        const other = text.slice(0, at) + character + text.slice(at + (isReplaced ? 1 : 0));
        expect(parse(PADDING + other).value, other).toEqual(parseAtOnce(other));
      }),
    );
  });

  it.each([
    '',
    '[',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '[1,]',
    '[,1]',
    '[1 2]',
    '{1:2}',
    '{"a" 1}',
    '1 1',
    ']',
    '[1}',
    "'a'",
  ])('refuses a long text that is not JSON: %s', (text) => {
    expect(parse(PADDING + text).problem?.code).toBe('REQUEST_MALFORMED');
  });

  it('tells the line and column of a mistake', () => {
    expect(parse(`${PADDING}\n\n{"a": [1,\n  ?]}`).problem?.detail).toBe('the body is not valid JSON: line 4, column 3');
  });

  it.each([
    ['side by side', '{"a":1,"a":1}', 'a'],
    ['escaped', '{"a":1,"\\u0061":2}', 'a'],
    ['in a list', '[{"a":1},{"a":1,"b":[0,{"c":{},"c":[]}]}]', '1.b.1.c'],
    ['__proto__', '{"__proto__":1,"__proto__":2}', '__proto__'],
    ['numbers', '{"0":1,"0":2}', '0'],
  ])('refuses a name given twice in a long text: %s', (_, text, path) => {
    expect(parse(PADDING + text).problem?.extras.errors).toMatchObject([{ path, code: 'duplicate' }]);
  });

  it('keeps a member named __proto__ as a member', () => {
    const { value } = parse(`${PADDING}{"__proto__":{"a":1}}`);
    expect([Object.keys(value ?? {}), Object.getPrototypeOf(value)]).toEqual([['__proto__'], Object.prototype]);
  });

  it.each([
    ['a number that is too large', '[1e400]', /number.*too large/],
    ['too much nesting', '[[[[[[[[[]]]]]]]]]', /8 levels/],
    ['an object of too many members', manyMembers(MAX_MEMBERS + 1), /20000 members/],
  ])('refuses a long text with %s', (_, text, fact) => {
    expect(parse(PADDING + text).problem).toMatchObject({ code: 'REQUEST_MALFORMED', detail: expect.stringMatching(fact) });
  });

  it('accepts an object of as many members as a JSON value can have', () => {
    expect(Object.keys(parse(manyMembers(MAX_MEMBERS)).value ?? {})).toHaveLength(MAX_MEMBERS);
  });

  it('refuses a list of more than a million items', () => {
    expect(parse(`{"a":[0${',0'.repeat(1_000_000)}]}`).problem?.detail).toMatch(/1000000 items/);
  });
});

describe('a step', () => {
  it('parses a part of the text, of a limited length', () => {
    const text = `[${'{"a":[]},'.repeat(STEP_LENGTH)}0]`;
    expect(parse(text).steps).toBe(Math.ceil(text.length / (STEP_LENGTH + 1)));
  });

  it('ends the parsing of a list that is too long', () => {
    const { problem, steps } = parse(`{"x":0,"data":[0,0,0,0,${'{},'.repeat(STEP_LENGTH)}`, { list: LIST });
    expect([problem?.detail, steps]).toEqual(['too many', 1]);
  });

  it.each([
    ['the limited member', '{"data":[0,0,0,0]}', true],
    ['the whole value', '[0,0,0,0]', true],
    ['a shorter one', '{"data":[0,0,0]}', false],
    ['another member', '{"other":[0,0,0,0]}', false],
    ['a member of an item', '{"data":[[0,0,0,0],{"data":[0,0,0,0]}]}', false],
    ['a member of another member', '{"other":{"data":[0,0,0,0]}}', false],
  ])('refuses a list that is too long if it is the limited one: %s', (_, text, isRefused) => {
    expect(parse(PADDING + text, { list: LIST }).problem?.code).toBe(isRefused ? 'REQUEST_TOO_LARGE' : undefined);
  });

  it.each([
    ['a text as long as allowed', '["12345"]', false],
    ['a longer text', '["123456"]', true],
    ['a text of escaped quotes', `["${'\\"'.repeat(10)}"]`, true],
    ['a longer name', '{"123456":0}', true],
  ])('limits the texts that it parses at once: %s', (_, text, isRefused) => {
    expect(parse(PADDING + text, { maxText: 5 }).problem?.detail.includes('5 characters') ?? false).toBe(isRefused);
  });
});
