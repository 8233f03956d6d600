/**
 * The life of a request inside its transaction: the table of actions and steps, the request context, and batches.
 *
 * A step does its part of the request and nothing else; `pipeline.ts` says which action takes which steps. No step walks
 * rules (that is `authz/decision/`), knows HTTP, or awaits anything but the transaction.
 * Begin with `pipeline.ts`, then `steps/decide-request.ts`.
 */
export { handle, handleBatch } from './handle.ts';
export { appendWithOutcome, type Outcome, rollBackUnless, runInSavepoint, runPipeline } from './pipeline.ts';
export {
  type Caller,
  createRequestContext,
  type DecisionObserver,
  type PipelineDeps,
  type PipelineOptions,
  type UnitOfWork,
} from './request-context.ts';
export { maySeeDescription } from './steps/authorize-action.ts';
export { authorizeAnyRow, importRow, type RowResult, validateKey } from './steps/import-rows.ts';
export { proposeChange, proposeRecord } from './steps/submitted-values.ts';
export { authenticate, identifyAgain, withAuditMode, withUnitOfWork } from './unit-of-work.ts';
