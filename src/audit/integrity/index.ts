/**
 * What shows that the record is as it was written: checkpoints, signed and kept outside of the database, and the look that
 * goes along the chains of entries and compares.
 *
 * Never changes an entry, never holds up a request. Whoever has the key and the database can write anew what came after the last
 * checkpoint that somebody keeps elsewhere. Begin with `check-chain.ts`, then `checkpoints.ts`.
 */
export { type ReadCheckpoints, readCheckpoints } from './checkpoint-file.ts';
export { checkpointKeyPath, loadCheckpointKey, publicKeyPath, readPublicKeys } from './checkpoint-key.ts';
export { type Checkpoints, createCheckpoints, loadMarks, NO_CHECKPOINTS, type Writing, writeRestored } from './checkpoints.ts';
export type { Look } from './compare-heads.ts';
export { type CutChain, cutPlace, loadCutChains } from './entry-rows.ts';
export { BREAK_KINDS } from './integrity-break.ts';
export { loadWritten, signCuts } from './signed-cuts.ts';
export { type VerifyPlace, verifyAll, type WholeVerification } from './verify-all.ts';
export { type ChainPlace, type Verification, verifyRecord } from './verify-chains.ts';
export { countVersionsBefore } from './verify-history.ts';
