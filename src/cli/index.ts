/**
 * The command line: one command per file, each a thin coat over what a library user calls.
 * It reads arguments, prints, and answers an exit code: 0 done, 1 failed, 2 set up or called wrongly.
 * It never decides anything, touches no table, and reaches the service only through what it is handed.
 * Begin at `program.ts`, which lists the commands.
 */
export type { CliBackups, CliContext, CliService, CliTables, CliVerification, PermissionPolicies, StoragePlan } from './cli-context.ts';
export { runCli } from './program.ts';
