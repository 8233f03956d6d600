import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackage } from '../test/process/installed.ts';
import type { Measurement } from './measurement.ts';
import { pick } from './options.ts';
import { moveTo } from './place.ts';
import { race } from './rounds.ts';
import { timeStart } from './service.ts';

/** What a start costs where there is next to nothing to read. */
export const start: Measurement = {
  name: 'start',
  about:
    'Milliseconds until the service listens on a small project whose tables are there: from a checkout, and from the package as npm installs it.',
  goesBy: ['rounds'],
  async run(options, tell) {
    const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
    try {
      const installed = await installPackage(folder);
      moveTo('server');
      const contestants = [{ name: 'checkout' }, { name: 'package', main: installed.main }];
      const racers = pick(options, contestants).map(({ name, main }) => {
        const data = join(folder, name);
        mkdirSync(data);
        return { name, turn: () => timeStart(data, `sqlite:${join(data, 'bailiwick.db')}`, main) };
      });
      // The first makes the tables, and keeps what it compiled.
      for (const { turn } of racers) await turn();
      for (const { name: contestant, rounds } of await race(racers, options.rounds)) {
        tell({ measurement: 'start', case: 'start', setting: 'tables there', contestant, unit: 'ms', better: 'less', rounds });
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
