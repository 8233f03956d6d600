/**
 * Who asks: setup, login, tokens, sessions and passwords.
 *
 * Turns a token into a principal, whose role and attributes are those of the stored user at that moment. A token that is not
 * good is refused, never taken for `anon`. Never decides what a principal may do, never logs or returns a secret.
 * Begin with `identity.ts`.
 */
export { type Authentication, createAuthentication } from './authentication.ts';
export type { AuthenticationOptions, AuthenticationSetup, FirstAdmin } from './authentication-deps.ts';
export { INACTIVE_USER } from './caller.ts';
export { checkProof, type PasswordClaim, type PasswordProof } from './current-password.ts';
export { checkLastAdmin, hasAdmin, type UserChange } from './last-admin.ts';
export { liftAccountBound } from './login-attempts.ts';
export { issuesOfGuessable } from './passwords.ts';
export { revokeAllSessions, revokeSessions } from './sessions.ts';
export { endSetupTokens } from './setup.ts';
export { deriveKey, loadTokenKey, type TokenAlgorithm, type TokenKey, type TokenKeySource } from './signing-key.ts';
export type { VerifiedToken } from './tokens.ts';
