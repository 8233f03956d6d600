/**
 * What shows that the record is as it was written: checkpoints, signed and kept outside of the database, and the look that
 * goes along the chains of entries and compares.
 *
 * Never changes an entry, never holds up a request. Whoever has the key and the database can write anew what came after the last
 * checkpoint that somebody keeps elsewhere. Begin with `check-chain.ts`, then `checkpoints.ts`.
 */
export { BREAK_KINDS } from './break.ts';
export { type ReadCheckpoints, readCheckpoints } from './checkpoint-file.ts';
export { type Checkpoints, createCheckpoints, NO_CHECKPOINTS, type Writing, writeRestored } from './checkpoints.ts';
export type { Look } from './compare-heads.ts';
export { loadWritten, signCuts } from './cuts.ts';
export { countVersionsBefore } from './history-rows.ts';
export { checkpointKeyPath, loadCheckpointKey, publicKeyPath, readPublicKeys } from './key.ts';
export { loadMarks } from './marks.ts';
export { type CutChain, cutPlace, loadCutChains } from './rows.ts';
export { type ChainPlace, type Verification, verifyRecord } from './verify.ts';
export { type VerifyPlace, verifyAll, type WholeVerification } from './verify-all.ts';
