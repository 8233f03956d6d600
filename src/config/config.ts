/**
 * Parses the options of `option-table.ts`. A flag takes precedence over the environment, the environment over the default.
 * The environment is an argument: only `main.ts` reads that of the process.
 */
import { didYouMean, SetupError } from '../errors.ts';
import { type GivenOption, type OptionRow, parseOption } from './option.ts';
import { OPTION_TABLE } from './option-table.ts';

const PREFIX = 'BAILIWICK_';

/** The name of an option, as in `Config`. */
export type ConfigOptionName = keyof typeof OPTION_TABLE;

type ValueOf<R> = R extends { readonly range: unknown }
  ? number
  : R extends { readonly each: unknown }
    ? readonly string[]
    : R extends { readonly values: readonly (infer V)[] }
      ? V
      : R extends { readonly default: string }
        ? string
        : string | undefined;

/** The validated value of every option. Frozen. */
export type Config = { readonly [N in ConfigOptionName]: ValueOf<(typeof OPTION_TABLE)[N]> };

/** The source of a value: the default, the flag, or the environment. */
export type OptionSource = 'default' | 'flag' | 'environment';

/** The key of the sources in a configuration. Copies made with a spread keep it. */
const SOURCES: unique symbol = Symbol('sources');

/** Returns the source of the value of an option. */
export function sourceOf(
  config: Config & { readonly [SOURCES]?: ReadonlyMap<string, OptionSource> },
  name: ConfigOptionName,
): OptionSource {
  return config[SOURCES]?.get(name) ?? 'default';
}

/** An option with its flag and environment variable, as the CLI help and the reference show it. */
export interface ConfigOption extends OptionRow {
  readonly name: ConfigOptionName;
  /** The flag, such as `--access-token-seconds`; undefined for a secret. */
  readonly flag: string | undefined;
  /** The environment variable, such as `BAILIWICK_ACCESS_TOKEN_SECONDS`. */
  readonly env: string;
}

/** Every option by name, in the order of the reference. */
export const CONFIG_OPTIONS: ReadonlyMap<string, ConfigOption> = new Map(
  (Object.keys(OPTION_TABLE) as ConfigOptionName[]).map((name) => [name, toConfigOption(name)]),
);

/** The groups of options in the CLI help and the reference, with their titles. */
export const CONFIG_GROUPS: ReadonlyMap<string, string> = new Map([
  ['storage', 'Project and database'],
  ['network', 'Network'],
  ['authentication', 'Authentication'],
  ['audit', 'Audit log'],
  ['requests', 'Request limits'],
  ['lists', 'List limits'],
  ['policies', 'Policy limits'],
]);

/** The sources of a configuration: flags by option name, and the environment. */
export interface ConfigSources {
  readonly flags?: { readonly [N in ConfigOptionName]?: GivenOption | undefined };
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Parses every option from its flag, else its environment variable (an empty one counts as absent), else its default.
 *
 * @throws SetupError that names every invalid option.
 */
export function parseConfig(sources: ConfigSources): Config {
  const mistakes = [...unknownSources(sources), ...unknownNames(sources)];
  const values = new Map<string, string | number | readonly string[] | undefined>();
  const found = new Map<string, OptionSource>();
  for (const option of CONFIG_OPTIONS.values()) {
    const { source, kind, given } = findGiven(option, sources) ?? {
      source: option.name,
      kind: 'default',
      given: defaultOf(option, values),
    };
    found.set(option.name, kind);
    if (given === undefined) continue;
    const parsed = parseOption(option, given);
    if ('mistake' in parsed) mistakes.push(`${source}: ${parsed.mistake}`);
    else values.set(option.name, parsed.value);
  }
  const config = { ...(Object.fromEntries(values) as Config), [SOURCES]: found };
  if (config.pageDefault > config.pageMax) {
    mistakes.push(`pageDefault: expected at most pageMax (${config.pageMax}), given ${config.pageDefault}`);
  }
  if (config.workers > 1 && config.database === 'sqlite::memory:') {
    mistakes.push(`workers: expected 1 with a database in memory, which only one process can use; given ${config.workers}`);
  }
  if (mistakes.length > 1) throw new SetupError(`${mistakes.length} settings cannot be used`, mistakes);
  if (mistakes[0] !== undefined) throw new SetupError(mistakes[0]);
  return Object.freeze(config);
}

function toConfigOption(name: ConfigOptionName): ConfigOption {
  const row: OptionRow = OPTION_TABLE[name];
  const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const flag = row.form === 'secret' ? undefined : `--${words}`;
  return Object.freeze({ ...row, name, flag, env: `${PREFIX}${words.replaceAll('-', '_').toUpperCase()}` });
}

/**
 * Returns the effective value of `setup`: `loopback` becomes `token` if a trusted proxy or an allowed host is
 * configured, because behind a proxy on this machine every request comes from loopback.
 */
export function toSetup({ setup, trustProxy, allowedHosts }: Config): Config['setup'] {
  return setup === 'loopback' && trustProxy.length + allowedHosts.length > 0 ? 'token' : setup;
}

interface Given {
  /** The name of the flag or variable, for messages. */
  readonly source: string;
  readonly kind: OptionSource;
  readonly given: GivenOption | undefined;
}

function findGiven(option: ConfigOption, { flags = {}, env = {} }: ConfigSources): Given | undefined {
  const flag = Object.hasOwn(flags, option.name) ? flags[option.name] : undefined;
  if (flag !== undefined) return { source: option.flag ?? option.name, kind: 'flag', given: flag };
  for (const name of [option.env, ...(option.otherwise === undefined ? [] : [option.otherwise])]) {
    const variable = Object.hasOwn(env, name) ? env[name] : undefined;
    if (variable !== undefined && variable !== '') return { source: name, kind: 'environment', given: variable };
  }
  return undefined;
}

/** Returns the default of an option. Replaces `<name>` by the value of the option `name`, which must precede the option in the table. */
function defaultOf(option: ConfigOption, values: ReadonlyMap<string, unknown>): GivenOption | undefined {
  if (option.each !== undefined) return [];
  if (typeof option.default !== 'string') return option.default;
  return option.default.replace(/<(\w+)>/g, (_, name: string) => String(values.get(name)));
}

/** Yields a mistake per unknown source. A program may have given a setting itself in place of its flag. */
function* unknownSources(sources: ConfigSources): Generator<string> {
  for (const name of Object.keys(sources)) {
    if (name === 'flags' || name === 'env') continue;
    const example = CONFIG_OPTIONS.has(name) ? `, as in { flags: { ${name}: … } }` : '';
    yield `there is no source "${name}": expected flags and env${example}`;
  }
}

/** Yields a mistake per unknown flag and mistyped variable. Ignores other variables with the prefix, because Kubernetes sets such variables. */
function* unknownNames({ flags = {}, env = {} }: ConfigSources): Generator<string> {
  for (const name of Object.keys(flags)) {
    if (!CONFIG_OPTIONS.has(name)) yield `there is no setting "${name}"${didYouMean(name, CONFIG_OPTIONS.keys())}`;
  }
  const known = new Set([...CONFIG_OPTIONS.values()].map((option) => option.env.slice(PREFIX.length)));
  for (const name of Object.keys(env)) {
    if (!name.startsWith(PREFIX) || known.has(name.slice(PREFIX.length))) continue;
    const near = didYouMean(name.slice(PREFIX.length), known);
    if (near !== '') yield `there is no setting ${name}${near.replace('"', `"${PREFIX}`)}`;
  }
}
