import { CHANGE_SCHEMAS } from '../authz/policies/index.ts';
import { loadExpressions } from '../conditions/index.ts';
import { prepareValidators } from '../validation/index.ts';

/**
 * Milliseconds from the start until a service prepares without a readiness check. The first check prepares at once and waits, so that a load
 * balancer sends no request before. Without checks, the first requests need the processor more, and a process that ends earlier saves the work.
 */
const DELAY = 1000;

let preparation: Promise<void> | undefined;

/**
 * Loads and compiles in advance what the first requests of a kind need: the validators of changes of policies, and the library of
 * expressions. Each takes up to 60 ms of processor time, in which no other request would be answered. Further calls wait for the first.
 */
export function prepareRequests(): Promise<void> {
  preparation ??= prepare();
  return preparation;
}

/** Prepares requests later, unless a readiness check has already done it. */
export function prepareRequestsLater(): void {
  setTimeout(() => void prepareRequests(), DELAY).unref();
}

async function prepare(): Promise<void> {
  await prepareValidators(CHANGE_SCHEMAS);
  await new Promise((resolve) => void setImmediate(resolve));
  loadExpressions();
}
