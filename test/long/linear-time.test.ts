/**
 * Times the regular expressions and parsers that read texts of callers. If the text doubles, the time may grow only by a constant factor.
 * `npm test` analyses the expressions and counts the steps of the parsers instead, which a busy machine does not change; time also includes
 * the loops inside Node.js.
 */
import { describe, expect, it } from 'vitest';
import { PARSERS, type RepeatedPart, textOf, tryParse } from '../attack/parsers.ts';
import { collectPatterns } from '../attack/source-patterns.ts';

describe('patterns', () => {
  it.each(collectPatterns().patterns.map(({ source, flags, file }) => [`/${source}/${flags}`, file, source, flags] as const))(
    'the time of the pattern %s of %s grows no faster than the text',
    async (_name, _file, source, flags) => {
      const pattern = new RegExp(source, flags);
      for (const text of textsFor(source)) expect(await findSlowText((whole) => whole.replace(pattern, ''), text)).toBeUndefined();
    },
  );

  it.each(['\\s+$', '\\$\\{([^}]*)\\}', '^(a|a)*$', ';\\s*q\\s*=\\s*\\s*;'])('detects a slow pattern: /%s/', async (source) => {
    const pattern = new RegExp(source);
    let found: string | undefined;
    for (const text of textsFor(source)) found ??= await findSlowText((whole) => whole.replace(pattern, ''), text);
    expect(found).toBeDefined();
  });
});

describe('parsers', () => {
  it.each(PARSERS)('parses $name in linear time', async ({ parse, texts }) => {
    for (const text of texts) expect(await findSlowText((whole) => tryParse(parse, whole), text)).toBeUndefined();
  });
});

/** Milliseconds of processor time: about a thousand times as long as a linear pass over the longest text. */
const SLOW = 250;
/** Maximum factor when the text doubles: linear time grows by 2, quadratic time by 4. */
const GROWTH = 2.8;
/** Short lengths first, so that an exponential pattern is detected before it runs too long. */
const LENGTHS = [16, 20, 24, 28, 32, 64, ...Array.from({ length: 12 }, (_, index) => 128 * 2 ** index)];

/**
 * Returns the text that makes `run` slow, shortened; undefined if `run` is linear. Measures processor time only if the time that passed is
 * long, because reading the processor time takes longer than most runs. Measures a slow result again, because the machine may be busy.
 */
async function findSlowText(run: (text: string) => unknown, { part, ...around }: RepeatedPart): Promise<string | undefined> {
  let shorter = '';
  for (const length of LENGTHS) {
    const text = textOf({ part, ...around }, length);
    const begun = performance.now();
    await run(text);
    if (performance.now() - begun > SLOW) {
      const before = await costOf(run, shorter);
      const cost = Math.min(await costOf(run, text), await costOf(run, text));
      if (isSlow(cost, before, length)) return JSON.stringify({ ...around, part: part.slice(0, 20), length, cost, before });
    }
    shorter = text;
  }
  return undefined;
}

/** Short texts must always be fast. */
function isSlow(cost: number, before: number, length: number): boolean {
  return cost > SLOW && (length < 1000 || cost > GROWTH * before);
}

async function costOf(run: (text: string) => unknown, text: string): Promise<number> {
  const begun = process.cpuUsage();
  await run(text);
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}

/** Generates texts that cause backtracking: characters of the pattern, alone and in pairs, after its prefix and before a suffix that does not match. */
function textsFor(source: string): readonly RepeatedPart[] {
  const plain = source.replaceAll(/\\[dwspPcbDWS](?:\{\w+\})?/g, '').replaceAll('\\', '');
  const own = [...new Set(plain)].filter((character) => !'()?*+|^'.includes(character)).slice(0, 12);
  const classes = [...(/\\d/.test(source) ? ['0'] : []), ...(/\\s/.test(source) ? [' '] : []), ...(/\\w|a-z/.test(source) ? ['a'] : [])];
  const alphabet = [...new Set([...own, ...classes, 'x'])];
  const pairs = alphabet.flatMap((first) => alphabet.filter((second) => second !== first).map((second) => first + second));
  const words = [...source.replaceAll('\\', '').matchAll(/[\w${}: -]{2,}/g)].map(([word]) => word);
  const [start = ''] = /^[\w:;/ -]+/.exec(plain.replace(/^\^/, '')) ?? [];
  const literal = plain.replaceAll(/[()?*+|^$[\]{}]/g, '').slice(0, -1);
  return [...alphabet, ...pairs, ...words].flatMap((part) =>
    [...new Set(['', start, literal.slice(0, 40)])].flatMap((prefix) => ['\0', '\n', ''].map((suffix) => ({ prefix, part, suffix }))),
  );
}
