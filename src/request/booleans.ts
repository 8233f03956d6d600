import { describeValue, type Json } from '../operators/index.ts';
import type { Mistakes } from './mistakes.ts';

/** What is given of a switch, and what it is where nothing is. */
export interface GivenSwitch {
  readonly given: Json | undefined;
  readonly otherwise: boolean;
}

/** Reads true or false, noting anything else. */
export function readBoolean(name: string, { given, otherwise }: GivenSwitch, mistakes: Mistakes): boolean {
  if (given === undefined) return otherwise;
  if (typeof given === 'boolean') return given;
  mistakes.add(name, 'type', `expected true or false, given ${describeValue(given)}`);
  return false;
}

/** A query's text as the boolean that it plainly is, and otherwise as it stands. */
export function toBoolean(text: Json | undefined): Json | undefined {
  return text === 'true' || text === 'false' ? text === 'true' : text;
}
