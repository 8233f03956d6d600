import { createRequire } from 'node:module';
import type * as Library from '@zxcvbn-ts/language-common';
import type { Issue } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';

let loaded: ReadonlySet<string> | undefined;

/** Returns an issue if the password in a user's values is their name, their email or a common password. Does not check its length. */
export function issuesOfGuessable({ password, email, name }: JsonObject): readonly Issue[] {
  if (typeof password !== 'string') return [];
  const given = toComparable(password);
  const own = [email, name].filter((text) => typeof text === 'string').map(toComparable);
  if (own.some((text) => given === text || given === text.split('@')[0]))
    return [{ path: 'password', code: 'guessable', detail: 'expected a password other than the name or the email of the user' }];
  if (!commonPasswords().has(given)) return [];
  return [{ path: 'password', code: 'common', detail: 'expected a password that is not one of the most common ones' }];
}

/** The list is loaded with the first password that is set: most processes never need it. All of it is in lower case. */
function commonPasswords(): ReadonlySet<string> {
  if (loaded === undefined) {
    const { dictionary } = createRequire(import.meta.url)('@zxcvbn-ts/language-common') as typeof Library;
    loaded = new Set<string>(dictionary['passwords-common']);
  }
  return loaded;
}

function toComparable(text: string): string {
  return text.trim().toLowerCase();
}
