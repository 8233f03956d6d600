/**
 * What a caller gets back: the envelope of a success, the problem of a failure (RFC 9457), the items of a batch.
 *
 * A problem's text is for the caller and its cause for the log; the two never mix. Nothing here decides, loads or hides
 * anything: what arrives is already fit to be shown. It knows no server: an `Answer` is data that `http/` sends.
 * Begin with `success.ts`, then `problem.ts`.
 */
export { type Item, type ItemOutcome, toBatchAnswer } from './batch.ts';
export { type ProblemBody, toProblemAnswer } from './problem.ts';
export { type ActionResult, type Success, toETag, toResultAnswer, toSuccess } from './success.ts';
