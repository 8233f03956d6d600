/**
 * Reads the settings of `settings-table.ts`. A flag takes precedence over the environment, the environment over the default.
 * No other part reads the environment: each is handed what it needs of `Config`.
 */
import { didYouMean, SetupError } from '../errors.ts';
import { type GivenOption, type OptionRow, parseOption } from './option.ts';
import { OPTION_TABLE } from './option-table.ts';

const PREFIX = 'BAILIWICK_';

/** The name of a setting, as in `Config`. */
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

/** The value of every setting, checked. Frozen. */
export type Config = { readonly [N in ConfigOptionName]: ValueOf<(typeof OPTION_TABLE)[N]> };

/** One setting with its names, as the command line and the reference show it. */
export interface ConfigOption extends OptionRow {
  readonly name: ConfigOptionName;
  /** `--access-token-seconds`; undefined for a secret. */
  readonly flag: string | undefined;
  /** `BAILIWICK_ACCESS_TOKEN_SECONDS` */
  readonly env: string;
}

/** Every setting by name, in the order of the reference. */
export const CONFIG_OPTIONS: ReadonlyMap<string, ConfigOption> = new Map(
  (Object.keys(OPTION_TABLE) as ConfigOptionName[]).map((name) => [name, toSetting(name)]),
);

/** The groups that settings are shown in, with their titles. */
export const CONFIG_GROUPS: ReadonlyMap<string, string> = new Map([
  ['place', 'Where things are'],
  ['network', 'Listening'],
  ['identity', 'Who asks'],
  ['record', 'The record'],
  ['requests', 'Bounds on requests'],
  ['lists', 'Bounds on lists'],
  ['policies', 'Bounds on policies'],
]);

/** Where settings come from: flags by setting name, then the environment. */
export interface ConfigSources {
  readonly flags?: { readonly [N in ConfigOptionName]?: GivenOption | undefined };
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads every setting: flag, then environment (empty counts as absent), then default.
 *
 * @throws SetupError naming every setting that cannot be used.
 */
export function parseConfig(sources: ConfigSources): Config {
  const mistakes = [...unknownNames(sources)];
  const values = new Map<string, string | number | readonly string[] | undefined>();
  for (const setting of CONFIG_OPTIONS.values()) {
    const { source, given } = findGiven(setting, sources) ?? { source: setting.name, given: defaultOf(setting, values) };
    if (given === undefined) continue;
    const read = parseOption(setting, given);
    if ('mistake' in read) mistakes.push(`${source}: ${read.mistake}`);
    else values.set(setting.name, read.value);
  }
  const settings = Object.fromEntries(values) as Config;
  if (settings.pageDefault > settings.pageMax) {
    mistakes.push(`pageDefault: expected at most pageMax (${settings.pageMax}), given ${settings.pageDefault}`);
  }
  if (settings.workers > 1 && /^sqlite:/.test(settings.database)) {
    mistakes.push(`workers: expected 1 where the database is a SQLite file, which one process writes at a time; given ${settings.workers}`);
  }
  if (mistakes.length > 1) throw new SetupError(`${mistakes.length} settings cannot be used`, mistakes);
  if (mistakes[0] !== undefined) throw new SetupError(mistakes[0]);
  return Object.freeze(settings);
}

function toSetting(name: ConfigOptionName): ConfigOption {
  const row: OptionRow = OPTION_TABLE[name];
  const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const flag = row.form === 'secret' ? undefined : `--${words}`;
  return Object.freeze({ ...row, name, flag, env: `${PREFIX}${words.replaceAll('-', '_').toUpperCase()}` });
}

/**
 * Returns the value of `setup` in force. Behind a proxy on this machine every request comes from loopback, so a service with a trusted
 * proxy or a public name treats no request as local.
 */
export function toSetup({ setup, trustProxy, allowedHosts }: Config): Config['setup'] {
  return setup === 'loopback' && trustProxy.length + allowedHosts.length > 0 ? 'token' : setup;
}

function findGiven(setting: ConfigOption, { flags = {}, env = {} }: ConfigSources): { source: string; given: GivenOption } | undefined {
  const flag = Object.hasOwn(flags, setting.name) ? flags[setting.name] : undefined;
  if (flag !== undefined) return { source: setting.flag ?? setting.name, given: flag };
  for (const name of [setting.env, ...(setting.otherwise === undefined ? [] : [setting.otherwise])]) {
    const variable = Object.hasOwn(env, name) ? env[name] : undefined;
    if (variable !== undefined && variable !== '') return { source: name, given: variable };
  }
  return undefined;
}

/** Settings that a default refers to stand before it in the table. Where one of those was unusable, that is what gets reported. */
function defaultOf(setting: ConfigOption, values: ReadonlyMap<string, unknown>): GivenOption | undefined {
  if (setting.each !== undefined) return [];
  if (typeof setting.default !== 'string') return setting.default;
  return setting.default.replace(/<(\w+)>/g, (_, name: string) => String(values.get(name)));
}

/** A mistyped name would silently leave a default in force. Variables that merely share the prefix are let be: Kubernetes sets such. */
function* unknownNames({ flags = {}, env = {} }: ConfigSources): Generator<string> {
  for (const name of Object.keys(flags)) {
    if (!CONFIG_OPTIONS.has(name)) yield `there is no setting "${name}"${didYouMean(name, CONFIG_OPTIONS.keys())}`;
  }
  const known = new Set([...CONFIG_OPTIONS.values()].map((setting) => setting.env.slice(PREFIX.length)));
  for (const name of Object.keys(env)) {
    if (!name.startsWith(PREFIX) || known.has(name.slice(PREFIX.length))) continue;
    const near = didYouMean(name.slice(PREFIX.length), known);
    if (near !== '') yield `there is no setting ${name}${near.replace('"', `"${PREFIX}`)}`;
  }
}
