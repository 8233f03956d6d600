import { bailiwick, bailiwickWithWorkers } from './http/bailiwick.ts';
import type { CaseName, HttpContestant } from './http/contestant.ts';
import { measureWorld } from './http/measure.ts';
import type { Measurement } from './measurement.ts';
import { pick } from './options.ts';

const CASES: readonly CaseName[] = ['read by id', 'list of 20', 'update', 'create'];

const CONTESTANTS: readonly HttpContestant[] = [bailiwick, bailiwickWithWorkers(2)];

/**
 * Measures one process and two workers on a SQLite file. They use all cores, together with the load generator: on two cores, it takes a part of
 * what a second worker could use, so compare also the processor time of a request.
 */
export const workers: Measurement = {
  name: 'workers',
  description: 'Requests per second of one process and of two workers on one SQLite file, which share all cores with the load generator.',
  optionNames: ['rounds', 'seconds', 'warmSeconds', 'connections', 'records'],
  async run(options, onFigure) {
    const names = pick(options, CASES);
    await measureWorld({
      measurement: 'workers',
      contestants: CONTESTANTS,
      sharesCores: true,
      names,
      records: options.records,
      options,
      onFigure,
    });
  },
};
