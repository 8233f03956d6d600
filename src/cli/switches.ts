import { SetupError } from '../errors.ts';
import type { Switches } from './world.ts';

/** What a switch or an argument says. Throws SetupError where it is missing. */
export function readNamed(switches: Switches, name: string): string {
  const value = switches.get(name);
  if (typeof value === 'string' && value !== '') return value;
  throw new SetupError(`expected ${name === 'as' ? '--as with the email of a user' : name}, given none`);
}
