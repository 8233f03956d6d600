import type { Config } from '../config/index.ts';
import type { CliCommand } from './cli-context.ts';
import { serve } from './serve.ts';

/** Serves, and takes changed definition files over as they are saved. */
export const dev: CliCommand = {
  name: 'dev',
  summary: 'serve the project, and reload its definitions whenever a file is saved',
  run: (world, settings) => serve(world, withLocalPages(settings), { watch: true }),
};

/** Allows pages of this machine where no origins are configured: the development server of a web app has an origin of its own. */
function withLocalPages(settings: Config): Config {
  return settings.corsOrigins.length > 0 ? settings : Object.freeze({ ...settings, corsOrigins: ['localhost'] });
}
