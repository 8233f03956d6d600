import type { CliCommand } from './cli-context.ts';
import { POLICY_CHANGE_FLAGS, runPolicyImport } from './import-policies.ts';

/** Imports the policies in the folder `policies/` of the project. */
export const policiesApply: CliCommand = {
  name: 'policies apply',
  summary: 'create, update and assign the policies in the folder policies/',
  details:
    'Policies are matched by name. Either all are applied or none. Policies and assignments of the database that are not in the folder stay as they are.',
  flags: POLICY_CHANGE_FLAGS,
  run(context, config, flags) {
    const open = async (): Promise<AsyncIterable<Uint8Array>> => only(new TextEncoder().encode(await context.readPolicies(config)));
    return runPolicyImport({ context, config, flags }, { from: 'the project', mediaType: 'application/json', open });
  },
};

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
