/**
 * The service's own resources, in the format of every definition, and how a project's definitions join them.
 *
 * It must never make an exception for them elsewhere: their tables come from the same evolution as all others.
 * Begin with `user.ts`, then `compose.ts`.
 */
export { type ComposedDefinitions, composeDefinitions, loadProject, SYSTEM } from './system-definitions.ts';
