import type { UserPolicy } from './policy.ts';

/** An active assignment of a policy to one user, as far as decisions depend on it. The policy may be inactive. */
export interface UserGrant {
  readonly policyId: string;
  /** Milliseconds since 1970; Infinity where it does not expire. */
  readonly expiresAt: number;
}

/** For whoever has no assignment, or is nobody. */
export const NO_GRANTS: readonly UserGrant[] = Object.freeze([]);

/** What one user's assignments come to. By policy: whatever is made of them is the same in whichever order they are stored. */
export function toGrants(assignments: readonly Pick<UserPolicy, 'policyId' | 'expiresAt' | 'isActive'>[]): readonly UserGrant[] {
  const grants = assignments
    .filter(({ isActive }) => isActive)
    .map(({ policyId, expiresAt }) => ({
      policyId,
      expiresAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
    }));
  return Object.freeze(grants.sort((a, b) => (a.policyId < b.policyId ? -1 : 1)));
}
