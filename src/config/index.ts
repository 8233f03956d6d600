/**
 * The configuration: every option with its name, type, default and help text, and the parsing of flags and environment.
 *
 * Only the composition root and the CLI import it; every other component receives its own options.
 * Begin with `option-table.ts`.
 */
export { CONFIG_GROUPS, CONFIG_OPTIONS, type Config, type ConfigOption, type ConfigSources, parseConfig, toSetup } from './config.ts';
export { type DescribedOption, describeConfig } from './describe-config.ts';
