import { count } from './count/measure.ts';
import { decide } from './decide/measure.ts';
import { http } from './http/measure.ts';
import type { Figure, Measurement, OnFigure, Results } from './measurement.ts';
import type { Options } from './options.ts';
import { compareCounts, compareRatios, isRegression } from './regressions.ts';
import { show } from './show.ts';

/** The measurements that are repeated in part. Settings stay the same, so that figures have the names of the stored ones. */
const PARTS: readonly { readonly measurement: Measurement; readonly options: Partial<Options> }[] = [
  {
    measurement: decide,
    options: { rounds: 5, seconds: 2, only: ['bailiwick', 'casl, kept', '1 rule', '101 rules', '1,100 rules', 'in process'] },
  },
  {
    measurement: http,
    options: {
      rounds: 3,
      seconds: 1,
      // In a whole run, a program has answered other cases before. One that has just started would be compared with it.
      warmSeconds: 4,
      connections: [64],
      large: 0,
      only: ['read by id', 'list of 20', 'create', 'by hand', 'bailiwick'],
    },
  },
];

/** Repeats the counts and a few ratios, and prints each with its stored value. Returns false if there is a regression. */
export async function runQuick(options: Options, results: readonly Results[], onFigure: OnFigure): Promise<boolean> {
  const counted: Figure[] = [];
  await count.run(options, (figure) => {
    counted.push(figure);
    onFigure(figure);
  });
  const now: Figure[] = [];
  for (const part of PARTS) {
    await part.measurement.run({ ...options, ...part.options }, (figure) => {
      now.push(figure);
      onFigure(figure);
    });
  }
  const compared = [...compareCounts(counted, results), ...compareRatios(now, results)];
  for (const comparison of compared) {
    const { name, now: value, before } = comparison;
    const known = before === undefined ? 'not stored yet' : `was ${show(before)}`;
    process.stdout.write(`${name}: ${show(value)}, ${known}${isRegression(comparison) ? '  WORSE' : ''}\n`);
  }
  if (compared.some(({ before }) => before === undefined)) {
    process.stdout.write('some values are not compared: run npm run bench -- count http decide once, and commit bench/results\n');
  }
  return !compared.some(isRegression);
}
