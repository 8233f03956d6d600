/**
 * The resources of the system (users, policies, the audit log, sessions) as definitions, and their composition with those of a project.
 *
 * No other folder may treat them specially: the same migrations create their tables, and `User` is decided like any resource.
 * Begin with `system-definitions.ts`, then `user-definition.ts`.
 */
export { type ComposedDefinitions, composeDefinitions, loadProject, SYSTEM } from './system-definitions.ts';
