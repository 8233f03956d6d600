import { Argument, Command, CommanderError, Option } from 'commander';
import { CONFIG_GROUPS, CONFIG_OPTIONS, type ConfigOption, type ConfigSources, parseConfig } from '../config/index.ts';
import type { CliCommand, CliContext, CliFlags } from './cli-context.ts';
import { describeFailure } from './command-errors.ts';

/** By what is typed, in the order of help. */
export const COMMANDS: ReadonlyMap<string, () => Promise<CliCommand>> = new Map([
  ['start', async () => (await import('./start.ts')).start],
  ['dev', async () => (await import('./dev.ts')).dev],
  ['storage plan', async () => (await import('./storage-plan.ts')).storagePlan],
  ['storage apply', async () => (await import('./storage-apply.ts')).storageApply],
  ['storage history', async () => (await import('./storage-history.ts')).storageHistory],
  ['storage prune', async () => (await import('./storage-prune.ts')).storagePrune],
  ['storage restored', async () => (await import('./storage-restored.ts')).storageRestored],
  ['backup', async () => (await import('./backup.ts')).backup],
  ['restore', async () => (await import('./restore.ts')).restore],
  ['decisions verify', async () => (await import('./decisions-verify.ts')).decisionsVerify],
  ['decisions prune', async () => (await import('./decisions-prune.ts')).decisionsPrune],
  ['policies from-permissions', async () => (await import('./policies-from-permissions.ts')).policiesFromPermissionsCommand],
  ['policies import', async () => (await import('./policies-import.ts')).policiesImport],
  ['policies export', async () => (await import('./policies-export.ts')).policiesExport],
  ['policies restore-admin', async () => (await import('./policies-restore-admin.ts')).policiesRestoreAdmin],
  ['user password', async () => (await import('./user-password.ts')).userPassword],
  ['user create', async () => (await import('./user-create.ts')).userCreate],
  ['user promote', async () => (await import('./user-promote.ts')).userPromote],
  ['import', async () => (await import('./import.ts')).importFile],
  ['export', async () => (await import('./export.ts')).exportFile],
]);

/** The first word of commands that have two. */
const families: Readonly<Record<string, string>> = {
  storage: 'plan, apply and list migrations of the tables, and delete archived data',
  policies: 'import, export and restore policies',
  user: 'create users, set their passwords and roles',
  decisions: 'verify and prune the audit log',
};

const HELP = '\nEach setting can also be given in the environment, as BAILIWICK_PORT for --port. BAILIWICK_JWT_SECRET has no flag.';
const OFFLINE_HELP =
  '\nEach setting can also be given in the environment, as BAILIWICK_DATA for --data. Those of start are accepted too, so that one line serves both.';

/** Runs one command line, without the program's own name in front, and answers its exit code. Never throws. */
export async function runCli(args: readonly string[], world: CliContext): Promise<number> {
  let exitCode = 0;
  try {
    const program = createProgram(await loadCommands(args), world, (code) => {
      exitCode = code;
    });
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // commander has printed its own sentence by now; it throws for --help and --version too, with exit code 0
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const failure = describeFailure(error);
    world.printError(`bailiwick: ${failure.message}`);
    for (const mistake of failure.mistakes) world.printError(`  ${mistake}`);
    return failure.exitCode;
  }
}

/** The command that is typed alone: the others are of no use to it, and each has an option for every setting. All where it is none. */
async function loadCommands([first = '', second = '']: readonly string[]): Promise<readonly CliCommand[]> {
  const load = COMMANDS.get(first) ?? COMMANDS.get(`${first} ${second}`);
  return load === undefined ? Promise.all([...COMMANDS.values()].map((each) => each())) : [await load()];
}

function createProgram(commands: readonly CliCommand[], world: CliContext, finish: (exitCode: number) => void): Command {
  const program = configure(new Command('bailiwick'), world)
    .description('Your data model in files, who may do what in policies, every decision on the record.')
    .version(world.version, '-v, --version', 'print the version');
  for (const command of commands) {
    const [first = '', second] = command.name.split(' ');
    const parent = second === undefined ? program : findFamily(program, first, world);
    const added = configure(parent.command(second ?? first), world)
      .summary(command.summary)
      .description(`${command.summary}.`);
    const parameters = Object.entries(command.parameters ?? {}).map(([name, about]) => new Argument(name, about));
    for (const parameter of parameters) added.addArgument(parameter);
    const own = Object.entries(command.switches ?? {}).map(([flag, about]) => new Option(flag, about));
    for (const option of own) added.addOption(option);
    for (const setting of CONFIG_OPTIONS.values()) {
      if (setting.flag !== undefined) added.addOption(toOption(setting).hideHelp(command.isOffline === true && setting.group !== 'place'));
    }
    added.addHelpText('after', command.isOffline === true ? OFFLINE_HELP : HELP);
    added.action(async () => {
      const { switches, flags } = splitGiven(added.opts(), new Set(own.map((option) => option.attributeName())));
      const placed = parameters.map((parameter, index) => [parameter.name(), added.args[index]] as const);
      const named = placed.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
      finish(await command.run(world, parseConfig({ flags, env: world.env }), new Map([...switches, ...named])));
    });
  }
  return program;
}

/** Errors throw instead of ending the process, and everything is printed through the world. */
function configure(command: Command, world: CliContext): Command {
  return command
    .exitOverride()
    .allowExcessArguments(false)
    .configureOutput({
      writeOut: (text) => world.print(text.trimEnd()),
      writeErr: (text) => world.printError(text.trimEnd()),
      outputError: (text, write) => write(text.replace(/^error:/, 'bailiwick:').replaceAll('\n(', ' (')),
    });
}

function findFamily(program: Command, name: string, world: CliContext): Command {
  const found = program.commands.find((command) => command.name() === name);
  return found ?? configure(program.command(name), world).description(families[name] ?? '');
}

function toOption(setting: ConfigOption): Option {
  const shape = setting.values?.join('|') ?? (setting.each === undefined ? (setting.range === undefined ? 'text' : 'number') : 'a,b,…');
  const standard = setting.default === undefined ? '' : ` (default: ${setting.default})`;
  const option = new Option(`${setting.flag} <${shape}>`, `${setting.about}${standard}`);
  return option.helpGroup(`${CONFIG_GROUPS.get(setting.group)}:`);
}

/** What belongs to the command itself, and what are settings. */
function splitGiven(
  given: Readonly<Record<string, string | true>>,
  own: ReadonlySet<string>,
): { switches: CliFlags; flags: ConfigSources['flags'] & object } {
  const entries = Object.entries(given);
  return {
    switches: new Map(entries.filter(([name]) => own.has(name))),
    flags: Object.fromEntries(entries.filter(([name]) => !own.has(name))),
  };
}
