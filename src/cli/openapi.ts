import type { CliCommand } from './cli-context.ts';
import { findFlag } from './flags.ts';
import { FORCE_FLAG } from './transfer-flags.ts';

/** Writes the OpenAPI document. */
export const openapi: CliCommand = {
  name: 'openapi',
  summary: 'write the OpenAPI document, with all resources',
  details: 'The document of a running service, GET /openapi.json, contains the resources that its caller may see.',
  settings: 'project',
  flags: { '-o, --out <file>': 'file to write; - is standard output (default: -)', ...FORCE_FLAG },
  async run(context, config, flags) {
    const text = await context.renderOpenApi(config);
    await context.writeOutput(findFlag(flags, 'out') ?? '-', async () => [text], { force: flags.has('force') });
    return 0;
  },
};
