import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackage } from '../test/process/installed-package.ts';
import { moveTo } from './cores.ts';
import type { Measurement } from './measurement.ts';
import { pick } from './options.ts';
import { race } from './rounds.ts';
import { timeStart } from './service.ts';

/** Measures the start of a service with a small project. */
export const start: Measurement = {
  name: 'start',
  description:
    'Milliseconds until the service listens, with a small project and existing tables: from a checkout as `npm start` starts it, and from the package as npm installs it.',
  optionNames: ['rounds'],
  async run(options, onFigure) {
    const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
    try {
      const installed = await installPackage(folder);
      moveTo('server');
      const contestants = [{ name: 'checkout' }, { name: 'package', source: { main: installed.main } }];
      const racers = pick(options, contestants).map(({ name, source }) => {
        const data = join(folder, name);
        mkdirSync(data);
        return { name, turn: () => timeStart(data, `sqlite:${join(data, 'bailiwick.db')}`, source) };
      });
      // The first start creates the tables and fills the compile cache.
      for (const { turn } of racers) await turn();
      for (const { name: contestant, rounds } of await race(racers, options.rounds)) {
        onFigure({ measurement: 'start', case: 'start', setting: 'tables there', contestant, unit: 'ms', better: 'less', rounds });
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
