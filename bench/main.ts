/**
 * What is measured: `npm run bench` for all of it, `npm run bench -- http decide` for some, `npm run bench -- report` to write the page of
 * results anew from what is kept, `npm run bench -- quick` to see whether something has slipped. Options: options.ts.
 */
import { decide } from './decide/measure.ts';
import { http } from './http/measure.ts';
import type { Figure, Measurement } from './measurement.ts';
import { readOptions } from './options.ts';
import { writePage } from './page.ts';
import { record } from './record/measure.ts';
import { keepResults, readResults } from './results.ts';
import { median } from './statistics.ts';

const MEASUREMENTS: readonly Measurement[] = [http, decide, record];

const { names, options } = readOptions(process.argv.slice(2));
const known = new Map(MEASUREMENTS.map((measurement) => [measurement.name, measurement]));
const unknown = names.filter((name) => !known.has(name) && name !== 'report');
if (unknown.length > 0) throw new Error(`expected ${[...known.keys(), 'report'].join(', ')}, given ${unknown.join(', ')}`);
const wanted = names.length === 0 ? MEASUREMENTS : MEASUREMENTS.filter(({ name }) => names.includes(name));
for (const measurement of wanted) {
  const figures: Figure[] = [];
  await measurement.run(options, (figure) => {
    figures.push(figure);
    show(figure);
  });
  if (options.only.length === 0) process.stdout.write(`kept in ${keepResults({ names: [measurement.name], options, figures })}\n`);
}
writePage(readResults(), new Map(MEASUREMENTS.map(({ name, about }) => [name, about])));
process.exit(0);

function show({ case: name, setting, contestant, unit, rounds, beside = {} }: Figure): void {
  const besides = Object.entries(beside).map(([key, value]) => `${key} ${value.toFixed(1)}`);
  const spread = `${Math.min(...rounds).toPrecision(4)}–${Math.max(...rounds).toPrecision(4)}`;
  const cells = [name.padEnd(28), setting.padEnd(34), contestant.padEnd(28), `${median(rounds).toPrecision(5)} ${unit}`.padEnd(22), spread];
  process.stdout.write(`${[...cells, ...besides].join('  ')}\n`);
}
