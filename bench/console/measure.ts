import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { findBrowser } from '../../test/console/chromium.ts';
import { type ContextOptions, createContext, startPlainBrowser } from '../../test/console/console-browser.ts';
import { ADMIN, setUp } from '../../test/process/program.ts';
import { fillEntries } from '../fill-entries.ts';
import type { Figure, Measurement, OnFigure } from '../measurement.ts';
import { type Options, pick } from '../options.ts';
import { createRace } from '../rounds.ts';
import { startService } from '../service.ts';
import { buildConsole, measureBuild } from './build.ts';
import { type Scroll, type Smoothness, scrollBy, toSmoothness } from './scroll.ts';

/** Time over which the entries are spread. */
const SECONDS = 30 * 86_400;

/** Milliseconds after which no further round begins, so that a run ends within three minutes also on a busy machine. */
const BUDGET = 140_000;

/** A part of the measurement; `--only` selects some by name. */
interface Part {
  readonly name: string;
  run(stage: Stage, options: Options, onFigure: OnFigure): Promise<void>;
}

/** A service whose audit log is filled, and a browser. */
interface Stage {
  readonly url: string;
  readonly browser: Browser;
  /** The value of `performance.now()` after which no further round begins. */
  readonly deadline: number;
}

const PARTS: readonly Part[] = [
  { name: 'first contentful paint', run: measurePaint },
  { name: 'scrolling', run: measureScrolling },
];

/** Measures the console in a browser, and its build. */
export const consolePages: Measurement = {
  name: 'console',
  description:
    'The console in a headless browser on the same machine, without a graphics processor: milliseconds until the first contentful paint with an empty cache, frames each second while the table of decisions scrolls, and the build. The run ends within three minutes, with fewer rounds on a busy machine. A frame is late if the one before it is more than 25 ms old.',
  optionNames: ['rounds', 'seconds', 'consoleEntries'],
  async run(options, onFigure) {
    const deadline = performance.now() + BUDGET;
    await measureBuild(options, onFigure);
    const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
    const database = `sqlite:${join(folder, 'bailiwick.db')}`;
    const program = await findBrowser({ env: process.env, platform: `${process.platform}-${process.arch}` });
    if (program === undefined) throw new Error('no Chromium or Chrome was found: set BAILIWICK_BROWSER to the path of one');
    await buildConsole();
    const first = await startService(folder, database);
    await setUp(first.url);
    await first.stop();
    await fillEntries(database, { count: options.consoleEntries, seconds: SECONDS });
    const service = await startService(folder, database);
    const browser = await startPlainBrowser(program);
    try {
      for (const { run } of pick(options, PARTS)) await run({ url: service.url, browser, deadline }, options, onFigure);
    } finally {
      await browser.close();
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

const figureOf = (figure: Omit<Figure, 'measurement' | 'contestant'>): Figure => ({
  measurement: 'console',
  contestant: 'bailiwick',
  ...figure,
});

/** Returns true for the first round, and for all others that begin before the deadline. */
function hasTimeFor(round: number, rounds: number, { deadline }: Stage): boolean {
  return round === 0 || (round < rounds && performance.now() < deadline);
}

/** Opens the page in a browser context without a cache, as a first visit does. */
async function measurePaint(stage: Stage, { rounds }: Options, onFigure: OnFigure): Promise<void> {
  const screens = [
    { name: 'sign-in', path: '/sign-in', options: {} },
    { name: 'overview', path: '/', options: { as: ADMIN } },
  ];
  const racers = screens.map(({ name, path, options }) => ({ name, turn: async () => ({ value: await paintOnce(stage, path, options) }) }));
  // The service loads the files of the console with the first request.
  for (const { turn } of racers) await turn();
  const race = createRace(racers);
  for (let round = 0; hasTimeFor(round, rounds, stage); round++) await race.runRound();
  for (const { name: setting, rounds: values } of race.results())
    onFigure(figureOf({ case: 'first contentful paint', setting, unit: 'ms', better: 'less', rounds: values }));
}

/** Resolves with the time of the first contentful paint, also if it was painted before. */
const FIRST_PAINT = `new Promise((resolve) => new PerformanceObserver((list) => {
  const [first] = list.getEntriesByName('first-contentful-paint');
  if (first !== undefined) resolve(first.startTime);
}).observe({ type: 'paint', buffered: true }))`;

function paintOnce(stage: Stage, path: string, options: ContextOptions): Promise<number> {
  return openPage(stage, { path, options }, (page) => page.evaluate<number>(FIRST_PAINT));
}

interface Visit {
  readonly path: string;
  readonly options: ContextOptions;
}

async function openPage<Result>({ browser, url }: Stage, { path, options }: Visit, use: (page: Page) => Promise<Result>): Promise<Result> {
  const context = await createContext(browser, { url }, options);
  try {
    const page = await context.newPage();
    await page.goto(`${url}/console${path}`);
    return await use(page);
  } finally {
    await context.close();
  }
}

/**
 * Scrolls the table of decisions: once to its end, which loads all entries, then the loaded table in each round. Loading is not repeated, because it
 * takes as long as many rounds.
 */
async function measureScrolling(stage: Stage, { rounds, seconds, consoleEntries }: Options, onFigure: OnFigure): Promise<void> {
  const load: Scroll = { name: 'to the end, loading all pages', step: 5000, untilRows: consoleEntries };
  const scrolls: readonly Scroll[] = [
    { name: 'loaded, as with a wheel', step: -120, seconds },
    { name: 'loaded, as with the scroll bar', step: -20_000, seconds },
  ];
  const report = (name: string, results: readonly Smoothness[]): void =>
    onFigure(figureOf(toFigure(`${consoleEntries.toLocaleString('en')} entries, ${name}`, results)));
  await openPage(stage, { path: '/decisions?range=all', options: { as: ADMIN } }, async (page) => {
    await page.getByRole('row').nth(20).waitFor();
    report(load.name, [toSmoothness(await scrollBy(page, load))]);
    const all = scrolls.map((scroll) => ({ scroll, results: [] as Smoothness[] }));
    for (let round = 0; hasTimeFor(round, rounds, stage); round++)
      for (const { scroll, results } of all) results.push(toSmoothness(await scrollBy(page, scroll)));
    for (const { scroll, results } of all) report(scroll.name, results);
  });
}

function toFigure(setting: string, results: readonly Smoothness[]): Omit<Figure, 'measurement' | 'contestant'> {
  const beside = Object.fromEntries(
    Object.keys(results[0]?.beside ?? {}).map((key) => [key, Math.max(...results.map((each) => each.beside[key] ?? Number.NaN))]),
  );
  return { case: 'scrolling', setting, unit: 'frames/s', better: 'more', rounds: results.map(({ rate }) => rate), beside };
}
