import { FORMATS } from '../transfer/formats/index.ts';
import type { CliCommand } from './cli-context.ts';
import { requireFlag } from './flags.ts';
import { POLICY_CHANGE_FLAGS, runPolicyImport } from './import-policies.ts';
import { parsePolicyFormat } from './transfer-flags.ts';

/** Imports the policies of a file. */
export const policiesImport: CliCommand = {
  name: 'policies import',
  summary: 'create, update and assign the policies of a file',
  details: 'Policies are matched by name. Either all are imported or none.',
  parameters: { '<file>': 'file to read; - is standard input' },
  flags: { ...POLICY_CHANGE_FLAGS, '--format <format>': 'json or ndjson (default: by the extension of the file, else json)' },
  run(context, config, flags) {
    const file = requireFlag(flags, 'file');
    const mediaType = FORMATS.get(parsePolicyFormat(flags, file))?.types[0] ?? '';
    return runPolicyImport({ context, config, flags }, { from: file, mediaType, open: (stop) => context.openInput(file, stop) });
  },
};
