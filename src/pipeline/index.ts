/**
 * The life of a request inside its transaction: the table of actions and steps, the request context, and batches.
 *
 * A step does its part of the request and nothing else; `pipeline.ts` says which action takes which steps. No step walks
 * rules (that is `authz/decision/`), knows HTTP, or awaits anything but the transaction.
 * Begin with `pipeline.ts`, then `steps/decide-request.ts`.
 */
export { runAll, runEach } from './batch.ts';
export { appendEntries, type Outcome, settle, settleWork, undoneUnless } from './pipeline.ts';
export { type Asked, type AskedParts, askAgain, type Caller, inTransaction, readCaller, runRead, toJob } from './request-context.ts';
export type { Decided, DecisionWatch, Found, Job, JobSettings, Proposal, Result, StepRow } from './step-context.ts';
export { maySeeDescription } from './steps/decide-request.ts';
export { checkKey, decideAnyRow, importRow, type RowDone } from './steps/import-rows.ts';
export { foreseeRead } from './steps/load-record.ts';
export type { MadePasswords, PasswordHashes } from './steps/password-hashes.ts';
export { type Proposing, proposeChange, proposeRecord } from './steps/submitted-values.ts';
