import type { ConfigOption } from '../config/index.ts';
import type { CliCommand } from './cli-context.ts';

/** The config options in the help of a command, by its member `settings`. */
const SHOWN: Readonly<Record<NonNullable<CliCommand['settings']>, readonly string[]>> = {
  database: ['project', 'data', 'database'],
  auditLog: ['project', 'data', 'database', 'checkpoints'],
  project: ['project'],
  none: [],
};

/** Returns true if the help and the completion of a command have a config option. */
export function isShown({ name }: ConfigOption, settings: CliCommand['settings']): boolean {
  return settings === undefined || SHOWN[settings].includes(name);
}
