/**
 * What conditions can read: principal, action, resource, record, time and network, laid out as one `Scope`.
 * Never decides, never reads a clock: the moment is handed in. Never shows a secret field.
 * Begin with `createScope` in scope.ts; paths.ts says what a path means before anyone asks.
 */
export { describeDomain } from './attribute-domains.ts';
export { describePath, lackingResources, type PathDescription } from './attribute-paths.ts';
export { createScope, leaveOpen, type ReferencedRecords, type ScopeParts } from './decision-scope.ts';
export type { EnvironmentValue } from './environment.ts';
export { type Hypothesis, layOver } from './hypothesis.ts';
export { ANON, IDENTITY_NAMES, type Principal } from './principal.ts';
