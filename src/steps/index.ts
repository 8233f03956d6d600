/**
 * The steps that an action takes inside its transaction, one file each: load, values, decide, check, perform.
 *
 * A step does its part of the request's life and nothing else; which action takes which is `pipeline.ts`.
 * No step walks rules (that is `decision/`), knows HTTP, or awaits anything but the transaction.
 * Begin with `job.ts`: what every step is handed.
 */
export {
  checkAll,
  checkDeleted,
  checkKept,
  checkNothing,
  checkRecord,
  checkValuesOnly,
  checkVersion,
} from './check.ts';
export {
  decideDeletion,
  decideDescription,
  decideEachProposed,
  decideOpen,
  decideProposed,
  decideReading,
  decideRecord,
  decideUpdate,
  maySeeDescription,
  redecide,
  redecideNothing,
} from './decide.ts';
export { createPasswordHashes, HashNeeded, type MadePasswords, type PasswordHashes } from './hashes.ts';
export { checkKey, decideAnyRow, importRow, type RowDone } from './import.ts';
export type { Decided, DecisionWatch, Found, Job, JobSettings, Proposal, Result, StepRow } from './job.ts';
export { foreseeRead, loadById, loadDeletedById, loadNothing } from './load.ts';
export { insertUnlessMatched, saveMatch } from './matches.ts';
export { takeCurrentPassword } from './own-password.ts';
export { describe, insert, insertEach, remove, save, show } from './perform.ts';
export { restore } from './restore.ts';
export { select } from './select.ts';
export { type Proposing, proposeChange, proposeRecord, readEach, readForCreate, readForUpdate, readNothing } from './values.ts';
