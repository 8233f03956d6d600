import { serve } from './serve.ts';
import type { CliCommand } from './world.ts';

/** Serves until it is told to stop. */
export const start: CliCommand = {
  name: 'start',
  summary: 'serve the project',
  run: (world, settings) => serve(world, settings, { watch: false }),
};
