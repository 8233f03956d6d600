import { count } from './count/measure.ts';
import { decide } from './decide/measure.ts';
import { http } from './http/measure.ts';
import type { Figure, Measurement, Results, Tell } from './measurement.ts';
import type { Options } from './options.ts';
import { show } from './show.ts';
import { compareCounts, compareRatios, isSlip } from './slips.ts';

/** What is measured again, in part: settings are those of the whole, so that figures are of the same name. */
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
      warmSeconds: 1,
      connections: [64],
      large: 0,
      only: ['read by id', 'list of 20', 'create', 'by hand', 'bailiwick'],
    },
  },
];

/** Counts, measures a few ratios, and says of each what it was; true where none is worse by more than is allowed. */
export async function runQuick(options: Options, results: readonly Results[], tell: Tell): Promise<boolean> {
  const counted: Figure[] = [];
  await count.run(options, (figure) => {
    counted.push(figure);
    tell(figure);
  });
  const now: Figure[] = [];
  for (const part of PARTS) {
    await part.measurement.run({ ...options, ...part.options }, (figure) => {
      now.push(figure);
      tell(figure);
    });
  }
  const compared = [...compareCounts(counted, results), ...compareRatios(now, results)];
  for (const slip of compared) {
    process.stdout.write(`${slip.what}: ${show(slip.now)}, was ${show(slip.before)}${isSlip(slip) ? '  WORSE' : ''}\n`);
  }
  if (compared.length === 0) process.stdout.write('nothing to compare with: run all of it once, and commit bench/results\n');
  return !compared.some(isSlip);
}
