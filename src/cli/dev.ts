import type { Config } from '../config/index.ts';
import type { CliCommand } from './cli-context.ts';
import { serve } from './start.ts';

/** Starts the service and reloads definition files when they change. */
export const dev: CliCommand = {
  name: 'dev',
  summary: 'start the service and reload definition files when they change',
  details: 'For development: denials contain the address of their explanation, and CORS allows pages of this machine.',
  run: (context, config) => serve(context, withLocalPages(config), { watch: true }),
};

/** Allows localhost by CORS if no origins are configured: the development server of a web app has its own origin. */
function withLocalPages(config: Config): Config {
  return config.corsOrigins.length > 0 ? config : Object.freeze({ ...config, corsOrigins: ['localhost'] });
}
