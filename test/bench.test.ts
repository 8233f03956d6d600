import { describe, expect, it } from 'vitest';
import { allocatedBy } from '../bench/count/allocated.ts';
import type { Figure, Results } from '../bench/measurement.ts';
import { parseOptions, pick } from '../bench/options.ts';
import { fillPage } from '../bench/page.ts';
import { renderPlot } from '../bench/plot.ts';
import { compareContestants, compareCounts, compareRatios, isRegression } from '../bench/regressions.ts';
import { advantageOf, renderReport, toGroups } from '../bench/report.ts';
import { race } from '../bench/rounds.ts';
import { show } from '../bench/show.ts';
import { median, quantile, ratioOf, slopeOf } from '../bench/statistics.ts';

const figure: Figure = {
  measurement: 'http',
  case: 'create',
  setting: '64 connections',
  contestant: 'bailiwick',
  unit: 'requests/s',
  better: 'more',
  rounds: [900, 1000, 1100],
  beside: { 'p99 ms': 12.5 },
};
const handwritten: Figure = { ...figure, contestant: 'by hand', rounds: [1800, 2000, 2200], beside: { 'p99 ms': 6 } };
const [decision, other] = [figure, handwritten].map((each): Figure => ({ ...each, measurement: 'decide', unit: 'decisions/s' })) as [
  Figure,
  Figure,
];
const pocketbase: Figure = { ...figure, contestant: 'Pocket<Base>', rounds: [100, 125, 110] };

function timed(of: Figure, microseconds: number): Figure {
  return { ...of, beside: { ...of.beside, 'processor µs': microseconds } };
}

function resultsOf(date: string, figures: readonly Figure[]): Results {
  return { date, machine: { processor: 'one, 2 cores' }, versions: { node: '24.0.0' }, settings: { http: { rounds: '3' } }, figures };
}

describe('statistics of rounds', () => {
  it.each([
    [[], Number.NaN],
    [[3], 3],
    [[5, 1, 3], 3],
    [[1, 10, 2, 9], 9],
  ])('the median of %j is %d', (values, expected) => expect(median(values)).toBe(expected));

  it.each([
    [0, 1],
    [0.5, 6],
    [0.99, 10],
    [1, 10],
  ])('the quantile %d of one to ten is %d', (share, expected) => {
    expect(quantile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], share)).toBe(expected);
  });

  it('compares the rounds in pairs, so that a slow moment affects both values', () => {
    expect(ratioOf([100, 10, 100], [50, 5, 50])).toBe(2);
    expect(ratioOf([100, 10, 90], [50, 5, 60])).toBe(2);
    expect(ratioOf([100, 100], [50])).toBe(2);
  });

  it('fits a line to points', () => {
    expect(
      slopeOf([
        [0, 5],
        [1, 7],
        [2, 9],
      ]),
    ).toBeCloseTo(2);
    expect(
      slopeOf([
        [1, 5],
        [1, 7],
      ]),
    ).toBe(0);
  });
});

describe('rounds', () => {
  it('runs each contestant once per round, in alternating order', async () => {
    const order: string[] = [];
    const racer = (name: string) => ({
      name,
      turn: async () => ({ value: order.push(name), beside: { 'p99 ms': order.length } }),
    });
    const raced = await race([racer('a'), racer('b')], 3);
    expect(order.join('')).toBe('abbaab');
    expect(raced).toEqual([
      { name: 'a', rounds: [1, 4, 5], beside: { 'p99 ms': 4 } },
      { name: 'b', rounds: [2, 3, 6], beside: { 'p99 ms': 3 } },
    ]);
  });
});

describe('options', () => {
  it('parses options from flags, and otherwise uses their defaults', () => {
    const { names, options } = parseOptions(['http', '--warm-seconds', '0.5', '--connections', '1,16', '--only', 'create,by hand']);
    expect(names).toEqual(['http']);
    expect(options).toMatchObject({ warmSeconds: 0.5, connections: [1, 16], only: ['create', 'by hand'], records: 10_000 });
  });

  it('reads the commit to compare with as text', () => {
    expect(parseOptions(['compare', '--against', 'v0.1.0']).options.against).toBe('v0.1.0');
  });

  it.each(['many', '-1', ''])('refuses "%s" as a number of an option', (text) => {
    expect(() => parseOptions([`--rounds=${text}`])).toThrow(`expected a number for --rounds, given "${text}"`);
  });

  it('selects cases by name, by a part of a name, or everything', () => {
    const all = ['list', 'list and sort', 'create'];
    const picked = (...only: string[]) => pick({ ...parseOptions([]).options, only }, all);
    expect(picked('list')).toEqual(['list']);
    expect(picked('lis')).toEqual(['list', 'list and sort']);
    expect(picked('another name')).toEqual(all);
    expect(picked()).toEqual(all);
  });
});

describe('the report', () => {
  const { markdown, plots } = renderReport(
    [resultsOf('2026-01-01', [{ ...figure, rounds: [1] }]), resultsOf('2026-01-02', [figure, handwritten, pocketbase])],
    new Map([
      ['http', 'Requests per second.'],
      ['decide', 'Never measured.'],
    ]),
  );

  it('the report contains the last results of each measurement, with the machine', () => {
    expect(markdown).toContain('## http\n\nRequests per second.\n\nMeasured on 2026-01-02. one, 2 cores.');
    expect(markdown).toContain('Settings: rounds 3.');
    expect(markdown).not.toContain('decide');
  });

  it('compares each figure with the first of its group', () => {
    expect(markdown).toContain('| 64 connections | bailiwick | 1,000 requests/s | 900 to 1,100 |  | 12.5 |');
    expect(markdown).toContain('|  | by hand | 2,000 requests/s | 1,800 to 2,200 | 0.5 × | 6 |');
    expect(markdown).toContain('| 9 × | 12.5 |');
  });

  it('the report has a plot for every case', () => {
    expect([...plots.keys()]).toEqual(['http-create.svg']);
    expect(markdown).toContain('![http: create](benchmarks/http-create.svg)');
  });

  it('inverts the ratio if less is better', () => {
    const less = { ...figure, better: 'less' as const };
    expect(advantageOf(less, { ...less, rounds: [1800, 2000, 2200] })).toBe(2);
    expect(advantageOf(figure, handwritten)).toBe(0.5);
  });

  it('does not compare figures of different settings', () => {
    expect(toGroups([figure, handwritten, { ...handwritten, setting: '10 connections' }]).map(({ length }) => length)).toEqual([2, 1]);
  });

  it('replaces the generated part of a page, and keeps the rest', () => {
    const page = 'before\n<!-- generated by npm run bench -- report -->\nold\n<!-- end of the generated part -->\nafter\n';
    const filled = fillPage(page, 'new $& text');
    expect(filled).toBe(
      'before\n<!-- generated by npm run bench -- report -->\n\nnew $& text\n\n<!-- end of the generated part -->\nafter\n',
    );
    expect(fillPage(filled, 'new $& text')).toBe(filled);
    expect(() => fillPage('nothing', 'new')).toThrow('expected the lines');
  });

  it.each([
    [0.012345, '0.0123'],
    [99.96, '100'],
    [12.345, '12.3'],
    [123456.7, '123,457'],
    [Number.NaN, '–'],
  ])('shows %d as %s', (value, shown) => expect(show(value)).toBe(shown));
});

describe('a plot', () => {
  const widths = (svg: string): readonly number[] =>
    [...svg.matchAll(/<rect x="250".*? width="([\d.]+)"/g)].map(([, width]) => Number(width));

  it('a plot has bars in proportion to the medians; the highest round has the full width', () => {
    expect(widths(renderPlot('create', [figure, handwritten]))).toEqual([209.1, 418.2]);
  });

  it('a plot has a logarithmic scale, with a note, if the values differ widely', () => {
    const far = renderPlot('create', [
      { ...figure, rounds: [1] },
      { ...handwritten, rounds: [10_000] },
    ]);
    expect(far).toContain('create (logarithmic)');
    expect(widths(far)).toEqual([92, 460]);
  });

  it('escapes the names of contestants in a plot', () => {
    expect(renderPlot('a & b', [pocketbase])).toMatch(/a &amp; b.*Pocket&lt;Base&gt;/s);
  });

  it('a plot has no bar for zero', () => {
    const all = [0, 1, 1000].map((value) => ({ ...figure, rounds: [value] }));
    expect(renderPlot('loss', all)).not.toMatch(/NaN|Infinity/);
    expect(widths(renderPlot('loss', all.slice(0, 1)))).toEqual([0]);
  });
});

describe('the comparison with earlier results', () => {
  const earlier = [resultsOf('2026-01-01', [decision, { ...other, rounds: [1, 1, 1] }]), resultsOf('2026-01-02', [decision, other])];
  const compare = (rounds: readonly number[]) => compareRatios([{ ...decision, rounds }, other], earlier);

  it('compares with the last stored results', () => {
    expect(compare([900, 1000, 1100])).toEqual([
      { name: 'decide, create, 64 connections: bailiwick against by hand', now: 0.5, before: 0.5 },
    ]);
  });

  it('accepts a loss of a third at most', () => {
    expect(compare([720, 720, 770]).map(isRegression)).toEqual([false]);
    expect(compare([600, 640, 700]).map(isRegression)).toEqual([true]);
    expect(compare([]).map(isRegression)).toEqual([true]);
  });

  it('compares cases without earlier results with nothing', () => {
    expect(
      compareRatios(
        [
          { ...decision, case: 'new' },
          { ...other, case: 'new' },
        ],
        earlier,
      ),
    ).toEqual([{ name: 'decide, new, 64 connections: bailiwick against by hand', now: 0.5, before: undefined }]);
  });

  it('compares the processor time of servers, and not their rates', () => {
    const [first, second] = [timed(figure, 80), timed(handwritten, 40)];
    const stored = [resultsOf('2026-01-03', [first, second])];
    const slowMachine = [timed({ ...figure, rounds: [100] }, 160), timed(handwritten, 80)];
    const name = 'http, create, processor µs, 64 connections: bailiwick against by hand';
    expect(compareRatios(slowMachine, stored)).toEqual([{ name, now: 0.5, before: 0.5 }]);
    expect(compareRatios([timed(figure, 120), second], stored).map(isRegression)).toEqual([true]);
    expect(compareRatios([figure, handwritten], stored)).toEqual([]);
  });

  it('compares the contestants of one run by the processor time of a request', () => {
    const [now, before] = [timed(figure, 50), timed({ ...figure, contestant: 'at HEAD' }, 40)];
    expect(compareContestants([now, before])).toEqual([['http, create, processor µs, 64 connections: bailiwick against at HEAD', 0.8]]);
  });

  it('accepts a count that grew by a tenth at most', () => {
    const bytes = { ...figure, measurement: 'count', unit: 'bytes', better: 'less' as const, rounds: [1000, 1001, 999] };
    const counts = [resultsOf('2026-01-03', [bytes])];
    const countsNow = (rounds: readonly number[]) => compareCounts([{ ...bytes, rounds }], counts);
    expect(countsNow([1100])).toEqual([
      { name: 'count, create, 64 connections: bailiwick, bytes', now: 1100, before: 1000, counted: true },
    ]);
    expect([[10], [1100], [1101], []].map((rounds) => countsNow(rounds).map(isRegression))).toEqual([[false], [false], [true], [true]]);
    expect(compareCounts([{ ...bytes, setting: 'new' }], counts).map(({ before }) => before)).toEqual([undefined]);
    expect(compareCounts([{ ...bytes, setting: 'new' }], counts).map(isRegression)).toEqual([false]);
  });
});

describe('bytes allocated', () => {
  it('counts the bytes that a function allocates', async () => {
    const held: unknown[] = [];
    const allocate = (length: number) => () => {
      for (let count = 0; count < 10; count++) held[count] = Array.from({ length }, () => 1.5);
    };
    const [small, large] = [await allocatedBy(allocate(1000), 10), await allocatedBy(allocate(3000), 10)];
    expect(small).toBeGreaterThan(8000);
    expect(small).toBeLessThan(40_000);
    expect(large - small).toBeGreaterThan(15_000);
  });
});
