import type { CliCommand } from './cli-context.ts';
import { serve } from './serve.ts';

/** Serves until it is told to stop. */
export const start: CliCommand = {
  name: 'start',
  summary: 'serve the project',
  run: (world, settings) => serve(world, settings, { watch: false }),
};
