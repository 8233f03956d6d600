/** Batches of requests for records. */
import type { ProblemBody } from './problem.ts';
import { sendRecordRequest } from './records.ts';

/** Maximum number of requests in a batch, as the service has it by default. */
export const MAX_BATCH = 100;

/** A request of a batch for one record. */
export interface BatchedRequest {
  readonly resource: string;
  readonly action: 'update' | 'delete' | 'restore';
  readonly id: string;
  /** The values that an update changes. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** The version that the request changes. */
  readonly ifMatch?: number;
  /** True for a deletion that deletes nothing. */
  readonly dryRun?: true;
}

/** The result of one request. */
export type BatchResult<Data = unknown> =
  | { readonly success: true; readonly data: Data }
  | { readonly success: false; readonly error: ProblemBody; readonly decisionId?: string };

/** Sends requests as one batch. Each is decided and performed on its own. @throws RequestError if the whole batch is refused */
export async function sendBatch<Data>(requests: readonly BatchedRequest[], signal?: AbortSignal): Promise<readonly BatchResult<Data>[]> {
  const body = { requests: requests.map(({ data, ...request }) => ({ ...request, ...(data && { data: escapeReferences(data) }) })) };
  return (await sendRecordRequest<{ readonly data: readonly BatchResult<Data>[] }>('batch', { method: 'POST', body, signal })).data;
}

/** A text that a batch reads as the id of the record of an earlier request. */
const REFERENCE = /^\$+\d+\.id$/;

/** Returns a value in which no text of a user is read as a reference. */
export function escapeReferences(value: unknown): unknown {
  if (typeof value === 'string') return REFERENCE.test(value) ? `$${value}` : value;
  if (Array.isArray(value)) return value.map(escapeReferences);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, escapeReferences(each)]));
}
