import { Argument, Command, CommanderError, Option } from 'commander';
import { CONFIG_GROUPS, CONFIG_OPTIONS, type Config, type ConfigOption, type ConfigSources, parseConfig } from '../config/index.ts';
import type { CliCommand, CliContext, CliFlags } from './cli-context.ts';
import { describeFailure } from './command-errors.ts';
import { isShown } from './shown-settings.ts';

/** The commands by name, in the order of the help. A command is imported only when it is used. */
export const COMMANDS: ReadonlyMap<string, () => Promise<CliCommand>> = new Map([
  ['init', async () => (await import('./init.ts')).init],
  ['start', async () => (await import('./start.ts')).start],
  ['dev', async () => (await import('./dev.ts')).dev],
  ['storage plan', async () => (await import('./storage-plan.ts')).storagePlan],
  ['storage apply', async () => (await import('./storage-apply.ts')).storageApply],
  ['storage history', async () => (await import('./storage-history.ts')).storageHistory],
  ['storage prune', async () => (await import('./storage-prune.ts')).storagePrune],
  ['storage restored', async () => (await import('./storage-restored.ts')).storageRestored],
  ['check', async () => (await import('./check.ts')).check],
  ['backup', async () => (await import('./backup.ts')).backup],
  ['restore', async () => (await import('./restore.ts')).restore],
  ['verify', async () => (await import('./verify.ts')).verify],
  ['decisions tail', async () => (await import('./decisions-tail.ts')).decisionsTail],
  ['decisions explain', async () => (await import('./decisions-explain.ts')).decisionsExplain],
  ['decisions export', async () => (await import('./decisions-export.ts')).decisionsExport],
  ['decisions verify', async () => (await import('./decisions-verify.ts')).decisionsVerify],
  ['decisions prune', async () => (await import('./decisions-prune.ts')).decisionsPrune],
  ['policies from-permissions', async () => (await import('./policies-from-permissions.ts')).policiesFromPermissionsCommand],
  ['policies import', async () => (await import('./policies-import.ts')).policiesImport],
  ['policies export', async () => (await import('./policies-export.ts')).policiesExport],
  ['policies diff', async () => (await import('./policies-diff.ts')).policiesDiff],
  ['policies apply', async () => (await import('./policies-apply.ts')).policiesApply],
  ['policies history', async () => (await import('./policies-history.ts')).policiesHistory],
  ['policies rollback', async () => (await import('./policies-rollback.ts')).policiesRollback],
  ['policies assign', async () => (await import('./policies-assign.ts')).policiesAssign],
  ['policies unassign', async () => (await import('./policies-unassign.ts')).policiesUnassign],
  ['policies lint', async () => (await import('./policies-lint.ts')).policiesLint],
  ['policies test', async () => (await import('./policies-test.ts')).policiesTest],
  ['policies restore-admin', async () => (await import('./policies-restore-admin.ts')).policiesRestoreAdmin],
  ['user password', async () => (await import('./user-password.ts')).userPassword],
  ['user create', async () => (await import('./user-create.ts')).userCreate],
  ['user promote', async () => (await import('./user-promote.ts')).userPromote],
  ['status', async () => (await import('./status.ts')).status],
  ['openapi', async () => (await import('./openapi.ts')).openapi],
  ['completion', async () => (await import('./completion.ts')).createCompletion(COMMANDS)],
  ['types', async () => (await import('./write-types.ts')).writeTypes],
  ['import', async () => (await import('./import.ts')).importFile],
  ['export', async () => (await import('./export.ts')).exportFile],
]);

/** Descriptions of the command groups. */
const GROUPS: Readonly<Record<string, string>> = {
  storage: 'plan, apply and list migrations; delete archived data',
  policies: 'lint, test, compare, apply, assign, import, export and roll back policies; print their history',
  user: 'create users, set their passwords and roles',
  decisions: 'follow, explain, export, verify and prune the audit log',
};

const HELP =
  '\nEach setting can also be set by an environment variable, such as BAILIWICK_PORT for --port. Secrets have no flag: set BAILIWICK_JWT_SECRET and BAILIWICK_METRICS_TOKEN.';
const SHORT_HELP =
  '\nEach setting can also be set by an environment variable, such as BAILIWICK_PROJECT for --project. The other settings of "bailiwick start" are accepted too.';

/** Runs a command line, given without the name of the program, and returns the exit code. Never throws. */
export async function runCli(args: readonly string[], context: CliContext): Promise<number> {
  try {
    return await runParsed(args, context);
  } catch (error) {
    const failure = describeFailure(error);
    context.printError(`bailiwick: ${failure.message}`);
    for (const mistake of failure.mistakes) context.printError(`  ${mistake}`);
    return failure.exitCode;
  }
}

async function runParsed(args: readonly string[], context: CliContext): Promise<number> {
  let exitCode = 0;
  const words = toWords(args);
  const program = createProgram(await loadCommands(words), context, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(words, { from: 'user' });
    return exitCode;
  } catch (error) {
    // commander has printed its message. It throws for --help and --version too, with exit code 0.
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) return 2;
    await context.flushOutput();
    return 0;
  }
}

/** Returns the words of a command line; those of `help policies apply` become `policies apply --help`, because commander would print the help of the group. */
function toWords(args: readonly string[]): readonly string[] {
  const [first, ...words] = args;
  return first === 'help' && COMMANDS.has(words.join(' ')) ? [...words, '--help'] : args;
}

/**
 * Imports the command that was typed, or all commands if no command has that name. Importing all commands would slow every start, because
 * each command declares every config option.
 */
async function loadCommands([first = '', second = '']: readonly string[]): Promise<readonly CliCommand[]> {
  const load = COMMANDS.get(first) ?? COMMANDS.get(`${first} ${second}`);
  return load === undefined ? Promise.all([...COMMANDS.values()].map((each) => each())) : [await load()];
}

function createProgram(commands: readonly CliCommand[], context: CliContext, finish: (exitCode: number) => void): Command {
  const program = configure(new Command('bailiwick'), context)
    .description('Serve a REST API from definition files, with access policies and an audit log.')
    .version(context.version, '-v, --version', 'print the version');
  for (const command of commands) {
    const [first = '', second] = command.name.split(' ');
    const parent = second === undefined ? program : findGroup(program, first, context);
    const added = configure(parent.command(second ?? first), context)
      .summary(command.summary)
      .description([toSentence(command.summary), ...(command.details === undefined ? [] : [command.details])].join('\n\n'));
    const parameters = Object.entries(command.parameters ?? {}).map(([name, about]) => new Argument(name, about));
    for (const parameter of parameters) added.addArgument(parameter);
    const own = Object.entries(command.flags ?? {}).map(([flag, about]) => new Option(flag, about));
    for (const option of own) added.addOption(option);
    for (const option of command.settings === 'none' ? [] : CONFIG_OPTIONS.values()) {
      if (option.flag !== undefined) added.addOption(toCommanderOption(option).hideHelp(!isShown(option, command.settings)));
    }
    if (command.settings !== 'none') added.addHelpText('after', command.settings === undefined ? HELP : SHORT_HELP);
    added.action(async () => {
      const { flags, configFlags } = splitFlags(added.opts(), new Set(own.map((option) => option.attributeName())));
      const args = parameters.map((parameter, index) => [parameter.name(), added.args[index]] as const);
      const given = args.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
      const config = command.settings === 'none' ? parseConfig({}) : await loadConfig(configFlags, context);
      const exitCode = await command.run(context, config, new Map([...flags, ...given]));
      if (command.serves !== true) await context.flushOutput();
      finish(exitCode);
    });
  }
  return program;
}

/** Parses the settings from the flags, the environment and the file `.env` of the project, in this order of precedence. */
async function loadConfig(flags: ConfigSources['flags'] & object, { env, readEnvFile }: CliContext): Promise<Config> {
  const project = flags.project ?? env['BAILIWICK_PROJECT'];
  const file = await readEnvFile(typeof project === 'string' && project !== '' ? project : '.');
  // An empty variable counts as absent.
  const given = Object.entries(env).filter(([, value]) => value !== undefined && value !== '');
  return parseConfig({ flags, env: { ...file, ...Object.fromEntries(given) } });
}

/** Makes commander throw errors instead of ending the process, and print through the context. */
function configure(command: Command, context: CliContext): Command {
  return command
    .exitOverride()
    .allowExcessArguments(false)
    .configureOutput({
      writeOut: (text) => context.print(text.trimEnd()),
      writeErr: (text) => context.printError(text.trimEnd()),
      outputError: (text, write) => write(text.replace(/^error:/, 'bailiwick:').replaceAll('\n(', ' (')),
    });
}

function findGroup(program: Command, name: string, context: CliContext): Command {
  const found = program.commands.find((command) => command.name() === name);
  return found ?? configure(program.command(name), context).description(GROUPS[name] ?? '');
}

function toCommanderOption({ flag, values, each, range, group, about, default: value }: ConfigOption): Option {
  const placeholder = values?.join('|') ?? (each === undefined ? (range === undefined ? 'text' : 'number') : 'a,b,…');
  const description = value === undefined ? about : `${about} (default: ${value})`;
  return new Option(`${flag} <${placeholder}>`, description).helpGroup(`${CONFIG_GROUPS.get(group)}:`);
}

/** Separates the given flags into flags of the command and flags of config options. */
function splitFlags(
  given: Readonly<Record<string, string | true>>,
  own: ReadonlySet<string>,
): { flags: CliFlags; configFlags: ConfigSources['flags'] & object } {
  const entries = Object.entries(given);
  return {
    flags: new Map(entries.filter(([name]) => own.has(name))),
    configFlags: Object.fromEntries(entries.filter(([name]) => !own.has(name))),
  };
}

function toSentence(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}.`;
}
