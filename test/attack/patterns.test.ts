/**
 * Runs all regular expressions and parsers that read texts of callers on adversarial texts. If the text doubles, the time may grow only by a constant factor.
 * The patterns are collected from the sources, so that none is missed. Exceptions are listed with the reason why no text of a caller reaches them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, it } from 'vitest';
import { parseQuery } from '../../src/request/index.ts';
import { parseJson } from '../../src/strict-json.ts';
import { formatOfType, readObjects } from '../../src/transfer/formats/index.ts';
import { isDeep } from '../budget.ts';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));

interface Pattern {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

/** Files whose patterns never run on a caller's text. */
const INSIDE: ReadonlyMap<string, string> = new Map([
  ['storage/sqlite/driver-error.ts', 'messages of the driver'],
  ['storage/postgres/driver-error.ts', 'messages and codes of the driver'],
  ['storage/postgres/partitions.ts', 'partition bounds printed by PostgreSQL'],
]);

describe('patterns', () => {
  const { patterns, built } = collect();

  it('all patterns are written as literals, so that this test finds them', () => {
    expect(built).toEqual([]);
    expect(patterns.length).toBeGreaterThan(80);
    expect([...INSIDE.keys()].filter((file) => !patterns.some((pattern) => pattern.file === file))).toEqual([]);
  });

  it.each(
    patterns
      .filter(({ file }) => !INSIDE.has(file))
      .map((pattern) => [`/${pattern.source}/${pattern.flags}`, pattern.file, pattern] as const),
  )('the time of the pattern %s of %s grows no faster than the text', (_name, _file, { source, flags }) => {
    const pattern = new RegExp(source, flags);
    for (const attack of attacksOn(source)) expect(slowTextOf((text) => text.replace(pattern, ''), attack)).toBeUndefined();
  });

  it.each(['\\s+$', '\\$\\{([^}]*)\\}', '^(a|a)*$', ';\\s*q\\s*=\\s*\\s*;'])('detects a pattern with backtracking: /%s/', (source) => {
    const pattern = new RegExp(source);
    expect(attacksOn(source).some((attack) => slowTextOf((text) => text.replace(pattern, ''), attack) !== undefined)).toBe(true);
  });
});

/** Parsers of bodies, headers and queries that use no pattern, or use one in a loop. */
const READERS: readonly (readonly [name: string, read: (text: string) => unknown])[] = [
  ['JSON', (text) => parseJson(text, { maxDepth: 1_000_000, subject: 'the body' })],
  ['a text in JSON', (text) => parseJson(`{"a":"${text}`, { maxDepth: 64, subject: 'the body' })],
  ['a query', (text) => parseQuery(text, { parameters: 1_000_000, depth: 1_000_000, keyLength: 1_000_000, valueLength: 1_000_000 })],
  ['a media type', (text) => formatOfType(text)],
];

const READ_ATTACKS: readonly Attack[] = [
  '1',
  '-',
  '\\',
  '"',
  '\\"',
  '{',
  '[',
  '{"a":',
  '"a":1,',
  ',',
  ':',
  '[0],',
  'a',
  'e',
  '[a]',
  '&',
  '%20',
  '=',
  ';',
  ' ',
  '\n',
  '\0',
  '1'.repeat(308).concat('.'),
].flatMap((pump) => ['', '{', '[', '"', 'a', '{"a":'].map((prefix) => ({ prefix, pump, suffix: '' })));

describe('parsers', () => {
  it.each(READERS)('parses %s in linear time', (_, read) => {
    for (const attack of READ_ATTACKS) expect(slowTextOf(forgiving(read), attack)).toBeUndefined();
  });

  it('finds duplicate names in linear time', () => {
    const names = (text: string): string =>
      `{"z":[${text}{}],"a":1,${Array.from({ length: text.length / 8 }, (_, index) => `"n${index}":1`).join(',')},"a":2}`;
    for (const pump of ['[],', '{"a":[]},', '"\\\\",', '0,'])
      expect(
        slowTextOf(
          forgiving((text) => parseJson(names(text), { maxDepth: 64, subject: 'the body' })),
          { prefix: '', pump, suffix: '' },
        ),
      ).toBeUndefined();
  });

  it.each(['{"a":1}\n', '\n', ' ', '"', '{', '\\"'])('parses lines of %j in linear time', async (pump) => {
    const costs: number[] = [];
    for (const size of [100_000, 200_000]) {
      const begun = process.cpuUsage();
      // In chunks, as from a connection.
      const chunks = Array.from({ length: size / 1000 }, () => Buffer.from(pump.repeat(1000 / pump.length)));
      for await (const row of readObjects(chunks, { rowLength: 1_000_000, depth: 64 })) expect(row.row).toBeGreaterThan(0);
      costs.push(costSince(begun));
    }
    expect((costs[1] ?? 0) > SLOW && (costs[1] ?? 0) > GROWTH * (costs[0] ?? 0)).toBe(false);
  });
});

function forgiving(read: (text: string) => unknown): (text: string) => void {
  return (text) => {
    try {
      read(text);
    } catch {
      // The text may be refused: only the time matters.
    }
  };
}

/** An adversarial text: a prefix, a repeated part and a suffix. */
interface Attack {
  readonly prefix: string;
  readonly pump: string;
  readonly suffix: string;
}

/** Milliseconds of processor time: about a thousand times as long as a linear pass over the longest text. */
const SLOW = isDeep ? 250 : 50;
/** Maximum factor when the text doubles: linear time grows by 2, quadratic time by 4. */
const GROWTH = 2.8;
/** Short lengths first, so that an exponential pattern is detected before it runs too long. */
const LENGTHS = [16, 20, 24, 28, 32, 64, ...Array.from({ length: isDeep ? 10 : 8 }, (_, index) => 128 * 2 ** index)];

/**
 * Returns the text that makes `run` slow, shortened; undefined if `run` is linear. Measures processor time only if the time that passed is
 * long, because reading the processor time takes longer than most runs. Measures a slow result again, because the machine may be busy.
 */
function slowTextOf(run: (text: string) => void, { prefix, pump, suffix }: Attack): string | undefined {
  let shorter = '';
  for (const length of LENGTHS) {
    const text = `${prefix}${pump.repeat(Math.ceil(length / pump.length))}${suffix}`;
    if (elapsedOf(run, text) > SLOW) {
      const before = costOf(run, shorter);
      let cost = costOf(run, text);
      if (isSlow(cost, before, length)) cost = Math.min(cost, costOf(run, text));
      if (isSlow(cost, before, length)) return JSON.stringify({ prefix, pump: pump.slice(0, 20), suffix, length, cost, before });
    }
    shorter = text;
  }
  return undefined;
}

/** Short texts must always be fast. */
function isSlow(cost: number, before: number, length: number): boolean {
  return cost > SLOW && (length < 1000 || cost > GROWTH * before);
}

/** Returns the milliseconds that pass during a run, which are no fewer than those of processor time. */
function elapsedOf(run: (text: string) => void, text: string): number {
  const begun = performance.now();
  run(text);
  return performance.now() - begun;
}

function costOf(run: (text: string) => void, text: string): number {
  const begun = process.cpuUsage();
  run(text);
  return costSince(begun);
}

function costSince(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}

/** Generates texts that cause backtracking: characters of the pattern, alone and in pairs, after its prefix and before a suffix that does not match. */
function attacksOn(source: string): readonly Attack[] {
  const plain = source.replaceAll(/\\[dwspPcbDWS](?:\{\w+\})?/g, '').replaceAll('\\', '');
  const own = [...new Set(plain)].filter((character) => !'()?*+|^'.includes(character)).slice(0, 12);
  const classes = [...(/\\d/.test(source) ? ['0'] : []), ...(/\\s/.test(source) ? [' '] : []), ...(/\\w|a-z/.test(source) ? ['a'] : [])];
  const alphabet = [...new Set([...own, ...classes, 'x'])];
  const pairs = alphabet.flatMap((first) => alphabet.filter((second) => second !== first).map((second) => first + second));
  const words = [...source.replaceAll('\\', '').matchAll(/[\w${}: -]{2,}/g)].map(([word]) => word);
  const [start = ''] = /^[\w:;/ -]+/.exec(plain.replace(/^\^/, '')) ?? [];
  const literal = plain.replaceAll(/[()?*+|^$[\]{}]/g, '').slice(0, -1);
  return [...alphabet, ...pairs, ...words].flatMap((pump) =>
    [...new Set(['', start, literal.slice(0, 40)])].flatMap((prefix) => ['\0', '\n', ''].map((suffix) => ({ prefix, pump, suffix }))),
  );
}

function collect(): { readonly patterns: readonly Pattern[]; readonly built: readonly string[] } {
  const patterns: Pattern[] = [];
  const built: string[] = [];
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) => /(?<!\.test|\.fixture)\.ts$/.test(file));
  for (const file of files) {
    const text = readFileSync(`${SOURCES}${file}`, 'utf8');
    visit(parseAst(text, { lang: 'ts' }, file), (node) => {
      const { regex, callee } = node as { regex?: { pattern: string; flags: string }; callee?: { name?: string } };
      if (regex !== undefined) patterns.push({ file, source: regex.pattern, flags: regex.flags });
      if (callee?.name === 'RegExp') built.push(file);
    });
  }
  return { patterns, built };
}

function visit(node: unknown, see: (node: object) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) see(node);
  for (const part of Object.values(node)) visit(part, see);
}
