import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { hash, verify } from '@node-rs/argon2';
import type * as Library from '@zxcvbn-ts/language-common';
import { type Issue, Problem } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';

/** argon2id, the library's default algorithm, at 19 MiB. */
const COSTS = Object.freeze({ memoryCost: 19_456, timeCost: 2, parallelism: 1 });

/** Passwords that may wait for each that is being hashed. */
const WAITING_PER_TURN = 64;

/** Hashes and verifies passwords, so many at once and no more: each takes 19 MiB and tens of milliseconds. */
export interface Passwords {
  /** @throws Problem STORAGE_BUSY where too many wait already. */
  hash(plain: string): Promise<string>;
  /**
   * Whether the hash is of that password. Undefined, for a user who does not exist, costs as much and is never right.
   *
   * @throws Problem STORAGE_BUSY where too many wait already.
   */
  verify(hashed: string | undefined, plain: string): Promise<boolean>;
}

/** Passwords, `atOnce` of them at a time in this process. */
export function createPasswords(atOnce: number): Passwords {
  const inTurn = createTurns(atOnce);
  return {
    hash: (plain) => inTurn(() => hash(plain, COSTS)),
    verify: (hashed, plain) => inTurn(() => verify(hashed ?? NOBODYS, plain)),
  };
}

/** In the form of a hash, of the same costs, but of no password: its digest is random. */
const NOBODYS = `$argon2id$v=19$m=${COSTS.memoryCost},t=${COSTS.timeCost},p=${COSTS.parallelism}$${unpadded(16)}$${unpadded(32)}`;

function unpadded(bytes: number): string {
  return randomBytes(bytes).toString('base64').replaceAll('=', '');
}

type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

function createTurns(atOnce: number): InTurn {
  const waiting: (() => void)[] = [];
  let free = atOnce;

  return async (work) => {
    if (free > 0) free--;
    else if (waiting.length < atOnce * WAITING_PER_TURN) await new Promise<void>((resolve) => waiting.push(resolve));
    else throw new Problem('STORAGE_BUSY', 'too many passwords are being checked at this moment', { retryAfter: 1 });
    try {
      return await work();
    } finally {
      // A turn is handed on, not freed: who comes later must not overtake.
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

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
