import { serve } from './serve.ts';
import type { CliCommand } from './world.ts';

/** Serves, and takes changed definition files over as they are saved. */
export const dev: CliCommand = {
  name: 'dev',
  summary: 'serve the project, and reload its definitions whenever a file is saved',
  run: (world, settings) => serve(world, settings, { watch: true }),
};
