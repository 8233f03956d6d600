import { SetupError } from '../errors.ts';
import type { CliFlags } from './cli-context.ts';

/** Returns the text of a flag; undefined if it is absent. */
export function findFlag(flags: CliFlags, name: string): string | undefined {
  const value = flags.get(name);
  return typeof value === 'string' ? value : undefined;
}

/** Returns the text of a flag or an argument. @throws SetupError if the flag is missing or empty. */
export function requireFlag(flags: CliFlags, name: string): string {
  const value = flags.get(name);
  if (typeof value === 'string' && value !== '') return value;
  throw new SetupError(`expected ${name === 'as' ? '--as with the email of a user' : name}, given none`);
}
