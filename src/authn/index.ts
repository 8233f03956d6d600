/**
 * Authentication: setup of the first admin, login, tokens, sessions and passwords.
 *
 * Verifies a token and loads its principal, whose role and attributes are read from the stored user. An invalid token is refused, never
 * treated as `anon`. This folder never decides what a principal may do, and never logs or returns a secret.
 *
 * Begin with `authentication.ts`, then `caller.ts`.
 */
export type { AuthOrigin } from './auth-entries.ts';
export { type Authentication, createAuthentication } from './authentication.ts';
export type { AuthenticationDeps, AuthenticationOptions, FirstAdmin } from './authentication-deps.ts';
export { type Identification, INACTIVE_USER, identify, identifyByEmail, identifyByToken } from './caller.ts';
export { type AdminUserChange, hasAdmin, validateAdminRemains } from './last-admin.ts';
export { toSessionOrigin } from './login.ts';
export { deleteAddressesOf, resetAccountAttempts } from './login-attempts.ts';
export { type DiskState, toLowDiskProblem } from './low-disk.ts';
export {
  loadOpenSessions,
  revokeOpenSession,
  SESSIONS_PER_PAGE,
} from './open-sessions.ts';
export { unknownSession } from './own-sessions.ts';
export { findGuessablePassword, type HashCosts, type PasswordClaim, type PasswordProof, validatePasswordProof } from './passwords.ts';
export { revokeAllSessions, revokeSessions } from './sessions.ts';
export { deleteSetupTokens, SETUP_BODY } from './setup.ts';
export { deriveKey, loadTokenKey, type TokenAlgorithm, type TokenKey, type TokenKeySource } from './signing-key.ts';
export { toForeignId, type VerifiedToken } from './tokens.ts';
export { loadUserActivity, type UserActivity } from './user-activity.ts';
