/**
 * The command line. Each file named after a command contains that command; `program.ts` lists them all and parses the arguments.
 *
 * Commands print and return an exit code: 0 done, 1 failed, 2 configured or called incorrectly. They decide nothing and touch no table;
 * they reach the service and the process only through `CliContext`, which `main.ts` provides.
 * Begin with `program.ts`.
 */
export type { CliContext } from './cli-context.ts';
export { runCli } from './program.ts';
