/**
 * The configuration: every option with its name, type, default and help text, and the parsing of flags, environment and file.
 *
 * Only the composition root and the CLI import it; every other component receives its own options.
 * Begin with `option-table.ts`.
 */
export { readSettings, SETTING_GROUPS, SETTINGS, type Setting, type SettingSources, type Settings, toSetup } from './config.ts';
