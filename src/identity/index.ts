/**
 * Who asks: setup, login, tokens, sessions and passwords.
 *
 * Turns a token into a principal, whose role and attributes are those of the stored user at that moment. A token that is not
 * good is refused, never taken for `anon`. Never decides what a principal may do, never logs or returns a secret.
 * Begin with `identity.ts`.
 */
export { checkLastAdmin, hasAdmin, type UserChange } from './admins.ts';
export { liftAccountBound } from './attempts.ts';
export { INACTIVE_USER } from './caller.ts';
export { issuesOfGuessable } from './common-passwords.ts';
export { checkProof, type PasswordClaim, type PasswordProof } from './current-password.ts';
export { createIdentity, type Identity } from './identity.ts';
export { deriveKey, loadTokenKey, type TokenAlgorithm, type TokenKey, type TokenKeySource } from './key.ts';
export type { FirstAdmin, IdentityOptions, IdentitySettings } from './parts.ts';
export { revokeAllSessions, revokeSessions } from './sessions.ts';
export { endSetupTokens } from './setup-token.ts';
export type { VerifiedToken } from './token.ts';
