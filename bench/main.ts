/**
 * Runs the measurements: `npm run bench` runs all, `npm run bench -- http decide` runs some, `npm run bench -- report` generates the page of
 * results from the stored results, `npm run bench -- quick` looks for regressions, `npm run bench -- compare --against <commit>` measures an
 * earlier commit beside this checkout. Options: options.ts.
 */
import { runCompare } from './compare.ts';
import { consolePages } from './console/measure.ts';
import { count } from './count/measure.ts';
import { decide } from './decide/measure.ts';
import { grow } from './grow/measure.ts';
import { http } from './http/measure.ts';
import { isolation } from './isolation/measure.ts';
import type { Figure, Measurement } from './measurement.ts';
import { memory } from './memory.ts';
import { type CommandLine, type Options, parseOptions } from './options.ts';
import { writePage } from './page.ts';
import { runQuick } from './quick.ts';
import { record } from './record/measure.ts';
import { relations } from './relations/measure.ts';
import { replay } from './replay.ts';
import { keepResults, readResults } from './results.ts';
import { show } from './show.ts';
import { start } from './start.ts';
import { median } from './statistics.ts';
import { workers } from './workers.ts';

const MEASUREMENTS: readonly Measurement[] = [
  http,
  decide,
  record,
  grow,
  start,
  memory,
  isolation,
  count,
  replay,
  relations,
  consolePages,
  workers,
];

const { names, options } = readCommandLine();
const ALL = [...MEASUREMENTS.map(({ name }) => name), 'report', 'quick', 'compare'];
const unknown = names.filter((name) => !ALL.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`expected ${ALL.join(', ')}, given ${unknown.join(', ')}\n`);
  process.exit(2);
}
if (names.includes('quick')) process.exit((await runQuick(options, readResults(), print)) ? 0 : 1);
if (names.includes('compare')) process.exit((await runCompare(options, print)) ? 0 : 1);
for (const measurement of MEASUREMENTS) {
  if (names.length === 0 || names.includes(measurement.name)) await measure(measurement, options);
}
writePage(readResults(), new Map(MEASUREMENTS.map(({ name, description }) => [name, description])));
// Connections that a measurement left open would keep the process alive.
process.exit(0);

async function measure(measurement: Measurement, how: Options): Promise<void> {
  const figures: Figure[] = [];
  await measurement.run(how, (figure) => {
    figures.push(figure);
    print(figure);
  });
  if (how.only.length === 0) process.stdout.write(`stored in ${keepResults(measurement, how, figures)}\n`);
}

function print({ case: name, setting, contestant, unit, rounds, beside = {} }: Figure): void {
  const extras = Object.entries(beside).map(([key, value]) => `${key} ${show(value)}`);
  const spread = `${show(Math.min(...rounds))} to ${show(Math.max(...rounds))}`;
  const cells = [
    name.padEnd(38),
    setting.padEnd(34),
    contestant.padEnd(28),
    `${show(median(rounds))} ${unit}`.padEnd(22),
    spread.padEnd(18),
  ];
  process.stdout.write(`${[...cells, extras.join(', ')].join('  ')}\n`);
}

/** Parses the command line; ends the process with code 2 if it is wrong. */
function readCommandLine(): CommandLine {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}
