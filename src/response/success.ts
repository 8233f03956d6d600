import type { JsonObject } from '../operators/index.ts';
import type { Answer } from '../request/index.ts';

/** The envelope of a success. */
export interface Success {
  readonly success: true;
  readonly data: unknown;
  /** count, total, nextCursor, created, updated, message, warnings. */
  readonly [extra: string]: unknown;
}

/** What an action came to. */
export interface ActionResult {
  readonly status: number;
  readonly data: unknown;
  /** Members beside `data`. */
  readonly extras?: JsonObject;
  /** Record version, for the ETag. */
  readonly version?: number;
  /** Address of a new record. */
  readonly location?: string;
}

/** Data in the envelope of every success, with the members that stand beside it. */
export function toSuccess(data: unknown, extras: Readonly<Record<string, unknown>> = {}): Success {
  return { success: true, data, ...extras };
}

/** The answer to an action that was performed. `decisionId` names its entry. */
export function toResultAnswer(result: ActionResult, decisionId?: string): Answer {
  return { status: result.status, headers: resultHeaders(result, decisionId), body: toSuccess(result.data, result.extras) };
}

/** The ETag of a version: of a record, a policy, an assignment. */
export function toETag(version: number): string {
  return `"${version}"`;
}

function resultHeaders({ version, location }: ActionResult, decisionId: string | undefined): Record<string, string> {
  return {
    ...(version === undefined ? {} : { etag: toETag(version) }),
    ...(location === undefined ? {} : { location }),
    ...(decisionId === undefined ? {} : { 'x-decision-id': decisionId }),
  };
}
