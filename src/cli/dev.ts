import type { Config } from '../config/index.ts';
import type { CliCommand } from './cli-context.ts';
import { serve } from './start.ts';

/** Starts the service, and reloads definitions and policies when their files change. */
export const dev: CliCommand = {
  name: 'dev',
  summary: 'start the service, and reload definitions and policies when their files change',
  details:
    'Applies the policies of the folder policies/ without an admin, prints the findings about them, and runs their tests. If a file has mistakes, the last policies stay in force. For development: denials contain the address of their explanation, and CORS allows pages of this machine.',
  serves: true,
  run: (context, config) => serve(context, withLocalPages(config), { watch: true }),
};

/** Allows localhost by CORS if no origins are configured: the development server of a web app has its own origin. */
function withLocalPages(config: Config): Config {
  return config.corsOrigins.length > 0 ? config : Object.freeze({ ...config, corsOrigins: ['localhost'] });
}
