import { hasContestant, installContestants } from '../contestants/install.ts';
import type { Measurement } from '../measurement.ts';
import { pick } from '../options.ts';
import { CERBOS } from './cerbos.ts';
import { measureInProcess } from './in-process.ts';
import { measureOverHttp } from './over-http.ts';

/** How it is asked for. */
const WAYS = ['in process', 'over HTTP'] as const;

/** What a decision costs, in process and asked for over HTTP. */
export const decide: Measurement = {
  name: 'decide',
  about:
    'What a decision costs: in the process that asks, in microseconds of its thread, and asked for over HTTP. Each person there has one of the policies, which allows them to read what is their own.',
  goesBy: ['rounds', 'seconds', 'warmSeconds', 'policies'],
  async run(options, tell) {
    installContestants();
    const ways = pick(options, WAYS);
    if (ways.includes('in process')) await measureInProcess(options, tell);
    if (ways.includes('over HTTP') && hasContestant(CERBOS)) await measureOverHttp(options, tell);
  },
};
