/**
 * Users and their sessions: the endpoints under `/auth` (login, browser sessions, the caller's own sessions, password, permissions and views),
 * the admin endpoints of users, and the operations on users of the CLI.
 *
 * Tokens, passwords and cookies are read and verified in `authn/`; no response contains a password hash.
 * Begin with `auth-endpoint.ts` and `auth-endpoints.ts`.
 */
export { authEndpoints, createAuthRoutes } from './auth-endpoints.ts';
export {
  type CommandPassword,
  type CommandPromotion,
  type CommandUser,
  createUserFromCommand,
  promoteUserFromCommand,
  setPasswordFromCommand,
} from './user-commands.ts';
export { userListEndpoints } from './user-list-endpoint.ts';
export { userSessionEndpoints } from './user-session-endpoints.ts';
