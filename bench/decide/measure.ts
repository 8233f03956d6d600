import { hasContestant, installContestants } from '../contestants/install.ts';
import type { Measurement } from '../measurement.ts';
import { pick } from '../options.ts';
import { CERBOS } from './cerbos.ts';
import { measureInProcess } from './in-process.ts';
import { measureOverHttp } from './over-http.ts';

/** The two parts of the measurement. */
const WAYS = ['in process', 'over HTTP'] as const;

/** Measures decisions, in process and over HTTP. */
export const decide: Measurement = {
  name: 'decide',
  description:
    'The cost of a decision: in process, in microseconds of processor time, and over HTTP. Over HTTP each user has one of the policies, which allows them to read their own article.',
  optionNames: ['rounds', 'seconds', 'warmSeconds', 'policies'],
  async run(options, onFigure) {
    installContestants();
    const ways = pick(options, WAYS);
    if (ways.includes('in process')) await measureInProcess(options, onFigure);
    if (ways.includes('over HTTP') && hasContestant(CERBOS)) await measureOverHttp(options, onFigure);
  },
};
