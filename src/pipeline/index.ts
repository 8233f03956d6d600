/**
 * The life of a request inside its transaction: the table of actions and steps, the request context, and batches.
 *
 * Each step has one task. The table in `pipeline.ts` lists the steps of each action. No step evaluates rules (`authz/decision/` does),
 * knows HTTP, or awaits anything but the transaction.
 * Begin with `pipeline.ts`, then `steps/authorize-action.ts` and `steps/decide-request.ts`.
 */
export { problemWithEntryId, toNamedProblem, withEntryId } from './entry-ids.ts';
export { handle, handleBatch } from './handle.ts';
export { changeOwnPassword, type OwnPasswordChange } from './own-password.ts';
export { appendEvaluation, appendWithOutcome, type Outcome, runInSavepoint, runPipeline } from './pipeline.ts';
export {
  type Caller,
  createRequestContext,
  type DecisionObserver,
  type PipelineDeps,
  type PipelineOptions,
  type UnitOfWork,
} from './request-context.ts';
export { rollBackUnless } from './roll-back.ts';
export { type SimulatedList, simulateList } from './simulated-list.ts';
export { maySeeDescription } from './steps/authorize-action.ts';
export { authorizeAnyRow, importRow, type RowResult, validateKey } from './steps/import-rows.ts';
export { proposeChange, proposeRecord } from './steps/submitted-values.ts';
export { authenticate, identifyAgain, toCallerKey, withAuditMode, withUnitOfWork } from './unit-of-work.ts';
