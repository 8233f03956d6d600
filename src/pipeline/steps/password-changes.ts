/**
 * Changes of users' passwords. Hashing or verifying a password takes tens of milliseconds, so it cannot happen inside a
 * transaction, and must not happen for a caller who is denied. The unit of work runs first with placeholders. If it succeeds and a hash
 * or proof was missing, it is rolled back, the hashes and the proof are computed, and it runs again.
 */
import { type PasswordClaim, type PasswordProof, validatePasswordProof } from '../../authn/index.ts';
import { type Issue, Problem } from '../../errors.ts';
import { type Json, ownValue } from '../../operators/index.ts';
import type { StoredRecord } from '../../resources/index.ts';
import { CURRENT_PASSWORD, type PasswordHashes, type Proposal, type RequestContext } from '../request-context.ts';

const MAX_LENGTH = 200;
/** Maximum passwords that one transaction sets. Hashing one takes tens of milliseconds, and the client waits for all of them. */
const MAX_HASHES = 300;

/** Thrown at the end of a unit of work that would store placeholders or depends on a claim that is not verified yet. */
export class HashNeeded extends Error {
  override name = 'HashNeeded';
  /** The passwords to hash. One that several users of a batch set occurs once for each of them. */
  readonly plain: readonly string[];
  readonly claim: PasswordClaim | undefined;
  constructor(plain: readonly string[], claim?: PasswordClaim) {
    super('passwords to be hashed or verified before this can be stored');
    this.plain = plain;
    this.claim = claim;
  }
}

/** A claim that was verified, and the result of the verification. */
export interface VerifiedClaim {
  readonly claim: PasswordClaim;
  readonly proof: PasswordProof;
}

/** The password hashes, and the verified claim if there is one, that were computed between the runs of a unit of work. */
export interface ComputedPasswords {
  /** The hashes of each password: one, with a salt of its own, for each use. */
  readonly hashes: ReadonlyMap<string, readonly string[]>;
  readonly verified?: VerifiedClaim | undefined;
}

/** Creates the password hashes of a unit of work from the hashes and the proof that earlier runs have computed. */
export function createPasswordHashes(computed: ComputedPasswords): PasswordHashes {
  return new NeededHashes(computed);
}

/**
 * A class, because each unit of work creates one, and few change a password. Each use of a password has a hash of its own, so that
 * equal hashes do not show which users have the same password.
 */
class NeededHashes implements PasswordHashes {
  readonly #computed: ComputedPasswords;
  #uses: Map<string, number> | undefined;
  #missing: string[] | undefined;
  #unverified: PasswordClaim | undefined;

  constructor(computed: ComputedPasswords) {
    this.#computed = computed;
  }

  of(plain: string): string {
    this.#uses ??= new Map();
    const use = this.#uses.get(plain) ?? 0;
    this.#uses.set(plain, use + 1);
    const hash = this.#computed.hashes.get(plain)?.[use];
    if (hash !== undefined) return hash;
    this.#missing ??= [];
    if (this.#missing.length === MAX_HASHES) throw tooManyPasswords();
    this.#missing.push(plain);
    return '';
  }

  proofOf(claim: PasswordClaim): PasswordProof | undefined {
    const { verified } = this.#computed;
    if (verified !== undefined) return isSame(verified.claim, claim) ? verified.proof : ANOTHER_CLAIM;
    this.#unverified ??= claim;
    return undefined;
  }

  assertComplete(): void {
    // The unit of work catches this error, computes the hashes and the proof, and runs again.
    if (this.#missing !== undefined || this.#unverified !== undefined) throw new HashNeeded(this.#missing ?? [], this.#unverified);
  }
}

function tooManyPasswords(): Problem {
  return new Problem('REQUEST_BUDGET', `expected at most ${MAX_HASHES} new passwords in one transaction, given more`, {
    hint: 'import users without atomic=true, or in several requests',
  });
}

/** The proof for a second claim of a unit of work: always a refusal, because a batch must not cause many verifications or allow many guesses at once. */
const ANOTHER_CLAIM: PasswordProof = {
  refused: new Problem('IDENTITY_CURRENT_PASSWORD', 'a batch verifies one currentPassword, and another request of it gave a different one'),
};

function isSame(a: PasswordClaim, b: PasswordClaim): boolean {
  return a.userId === b.userId && a.plain === b.plain;
}

/** Returns the mistakes of a password change. Only admins may set the passwords of other users; users must send their current password to change their own. */
export function issuesOfPassword(context: RequestContext, user: StoredRecord, changed: readonly string[]): readonly Issue[] {
  const { resource, principal, currentPassword, request } = context;
  if (resource.name !== 'User') return [];
  const isChanged = changed.includes('password');
  const isOwn = user.id === principal.id;
  if (isChanged && isOwn) return issuesOfCurrent(currentPassword);
  // An invalid password is not among the changed fields, and has an issue of its own.
  const isInvalid = isOwn && ownValue(request.data, 'password') !== undefined;
  const unused = currentPassword === undefined || isInvalid ? [] : [unusedCurrent];
  // A caller who sets the password of another user can log in as that user and has their role.
  return isChanged && principal.role !== 'admin' ? [guarded, ...unused] : unused;
}

/**
 * Validates that a user who changes their own password knows the current one. This is the last step before anything is stored: if all
 * other steps succeed and the password is not verified yet, the request is rolled back, the password is verified, and the request runs again.
 *
 * @throws Problem IDENTITY_CURRENT_PASSWORD, IDENTITY_THROTTLED
 */
export async function validateOwnPassword(context: RequestContext, { record, values, cleared }: Proposal): Promise<void> {
  const isChanged = Object.hasOwn(values, 'password') || cleared.includes('password');
  if (context.resource.name !== 'User' || !isChanged || record.id !== context.principal.id) return;
  const proof = context.hashes.proofOf({ userId: record.id, plain: String(context.currentPassword) });
  if (proof !== undefined) await validatePasswordProof(context.tx, record.id, proof);
}

const guarded: Issue = { path: 'password', code: 'guarded', detail: 'expected no value: only the user and an admin may set it' };

const unusedCurrent: Issue = {
  path: CURRENT_PASSWORD,
  code: 'unknown',
  detail: `expected ${CURRENT_PASSWORD} only where users set a new password of their own`,
};

/** Returns true for a text with at most as many characters as a password. A character has one or two UTF-16 units. */
function isShort(given: string): boolean {
  return given.length <= MAX_LENGTH || (given.length <= 2 * MAX_LENGTH && [...given].length <= MAX_LENGTH);
}

function issuesOfCurrent(given: Json | undefined): readonly Issue[] {
  if (typeof given === 'string' && given !== '' && isShort(given)) return [];
  const code = given === undefined ? 'required' : 'type';
  const detail = `expected ${CURRENT_PASSWORD}, the password that is replaced, beside a new password of your own; an import cannot change it`;
  return [{ path: CURRENT_PASSWORD, code, detail }];
}
