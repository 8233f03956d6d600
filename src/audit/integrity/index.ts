/**
 * Integrity of the audit log: verifies the hash chains of entries and the history of policies, and writes signed checkpoints to a file
 * outside of the database.
 *
 * This folder never changes an entry and never blocks a request. Accepted risk: an attacker with the checkpoint key and write access to the
 * database can rewrite all entries after the last checkpoint that is stored elsewhere.
 *
 * Begin with `chain-breaks.ts` (one chain), then `verify-chains.ts` and `checkpoints.ts`. `cuts.ts` signs the new
 * beginning of a pruned chain.
 */

export { BREAK_KINDS } from './chain-breaks.ts';
export { checkpointKeyPath, loadCheckpointKey, loadPublicKeys, publicKeyPath } from './checkpoint.ts';
export { type VerifiedCheckpoints, verifyCheckpointFile } from './checkpoint-file.ts';
export {
  type Checkpoints,
  type CheckpointWriting,
  createCheckpoints,
  loadLastLines,
  NO_CHECKPOINTS,
  writeRestored,
} from './checkpoints.ts';
export { loadCutHead, signCuts } from './cuts.ts';
export { type CutChain, cutSequenceOf, loadCutChains, type RunTransaction } from './entry-rows.ts';
export { type AuditVerification, type VerifyPosition, verifyAll } from './verify-all.ts';
export { type ChainVerification, type EntryPosition, type VerifyChainsOptions, verifyChains } from './verify-chains.ts';
export { countVersionsBefore } from './verify-history.ts';
