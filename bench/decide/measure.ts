import { installContestants } from '../contestants/install.ts';
import type { Measurement } from '../measurement.ts';
import { measureInProcess } from './in-process.ts';
import { measureOverHttp, OVER_HTTP } from './over-http.ts';

/** What a decision costs, in process and asked for over HTTP. */
export const decide: Measurement = {
  name: 'decide',
  about:
    'What a decision costs: in the process that asks, in microseconds of its thread, and asked for over HTTP. Each person there has one of the policies, which allows them to read what is their own.',
  async run(options, tell) {
    installContestants();
    if (!OVER_HTTP.some((name) => options.only.includes(name))) await measureInProcess(options, tell);
    await measureOverHttp(options, tell);
  },
};
