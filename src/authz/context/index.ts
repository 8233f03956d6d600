/**
 * The context of a decision: the values that conditions read (principal, action, resource, record, environment) as one `Scope`.
 *
 * It does not decide and does not read a clock: the time is a parameter. It never exposes a secret field.
 * Begin with `createScope` in `decision-scope.ts`; `attribute-paths.ts` describes the paths that a policy may use,
 * `attribute-domains.ts` their possible values.
 */
export { describeDomain } from './attribute-domains.ts';
export { describeLists, describePath, describeRelated, type PathDescription, resourcesWithoutPath } from './attribute-paths.ts';
export {
  ANON,
  applyHypothesis,
  createScope,
  type Hypothesis,
  IDENTITY_NAMES,
  leaveOpen,
  type Principal,
  REQUEST_KINDS,
  type ScopeInput,
} from './decision-scope.ts';
export { ENVIRONMENT_KINDS, type EnvironmentValue, toEnvironmentValue } from './environment.ts';
export type { ReferencedRecords, RelatedRecords } from './reached-records.ts';
export { type RelatedSource, relatedKindOf, toRelatedRecord } from './related-lookup.ts';
