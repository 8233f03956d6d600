import type { Settings } from '../settings.ts';
import { serve } from './serve.ts';
import type { CliCommand } from './world.ts';

/** Serves, and takes changed definition files over as they are saved. */
export const dev: CliCommand = {
  name: 'dev',
  summary: 'serve the project, and reload its definitions whenever a file is saved',
  run: (world, settings) => serve(world, withLocalPages(settings), { watch: true }),
};

/** Lets pages of this machine call where no origins are given: a web app under development has an origin of its own. */
function withLocalPages(settings: Settings): Settings {
  return settings.corsOrigins.length > 0 ? settings : Object.freeze({ ...settings, corsOrigins: ['localhost'] });
}
