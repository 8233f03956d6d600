/**
 * The resources of the system (users, policies, the audit log, sessions) as definitions, and their composition with those of a project.
 *
 * No other folder may treat them specially: the same migrations create their tables, and `User` is decided like any resource.
 * Begin with `system-definitions.ts`, then `user-definition.ts`.
 */
export { ENTRY_KINDS } from './audit-definition.ts';
export { EFFECTS, MANAGERS, POLICY_TYPES } from './policy-definitions.ts';
export { type ComposedDefinitions, composeDefinitions, loadProject, SYSTEM } from './system-definitions.ts';
