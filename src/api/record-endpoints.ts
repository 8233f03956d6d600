/**
 * The generic resource API: every door to the pipeline. A call is read into a request, run in one transaction with its
 * decision and entry, and answered after the commit.
 */

import { Problem } from '../errors.ts';
import {
  appendEntries,
  askAgain,
  type Found,
  foreseeRead,
  inTransaction,
  type Outcome,
  readCaller,
  runAll,
  runEach,
  runRead,
  settle,
  toJob,
} from '../pipeline/index.ts';
import {
  type ApiRequest,
  type HttpRequest,
  type HttpResponse,
  parseActionRequest,
  parseBatch,
  parseCreateRequest,
  parseListRequest,
  parseRecordRequest,
  parseUpdateRequest,
  type RequestOrigin,
  type Route,
  refuseQuery,
  toBatchResponse,
  toResultResponse,
} from '../request/index.ts';
import type { Definitions } from '../resources/index.ts';
import type { Transaction } from '../storage/index.ts';
import { answerExport, answerImport, type Plain, type TransferDeps } from '../transfer/index.ts';

/** What the resource API is made of. */
export type ApiParts = TransferDeps;

/** Every route under `/api`. */
export function createApiRoutes(parts: ApiParts): readonly Route[] {
  const { limits } = parts;
  const admission = { freeBytes: limits.anonymousBodyBytes, admit: (origin: RequestOrigin) => admit(parts, origin) };
  const door = (method: Route['method'], path: string, read: (call: HttpRequest) => ApiRequest): Route => ({
    method,
    path,
    admission,
    handle: (call) => answer(parts, read(call), call.origin),
  });
  return [
    door('GET', '/api/:resource/schema', (call) => parseRecordRequest(call, 'schema')),
    door('GET', '/api/:resource', (call) => parseListRequest(call, limits)),
    door('POST', '/api/:resource', (call) => parseCreateRequest(call)),
    door('GET', '/api/:resource/:id', (call) => parseRecordRequest(call, 'read')),
    door('PUT', '/api/:resource/:id', (call) => parseUpdateRequest(call)),
    door('DELETE', '/api/:resource/:id', (call) => parseRecordRequest(call, 'delete')),
    door('POST', '/api/:resource/:action', (call) => parseActionRequest(call, limits)),
    {
      method: 'POST',
      path: '/api/:resource/import',
      streams: 'body',
      bodyBytes: parts.importBounds.streamBytes,
      handle: async (call) => answerPlain(parts, await answerImport(parts, call), call.origin),
    },
    {
      method: 'POST',
      path: '/api/:resource/export',
      streams: 'answer',
      admission,
      handle: async (call) => answerPlain(parts, await answerExport(parts, call), call.origin),
    },
    {
      method: 'POST',
      path: '/api/batch',
      admission,
      cost: (call) => parseBatch(call.body, limits).items.length,
      handle: (call) => answerBatch(parts, call),
    },
  ];
}

/** Identifies the caller of a large body. The request itself is decided later, in its own transaction. */
async function admit(parts: ApiParts, origin: RequestOrigin): Promise<number> {
  if (origin.token === undefined) return parts.limits.anonymousBodyBytes;
  const caller = await readCaller(parts, origin);
  await parts.database.transaction((tx) => caller.identify(tx));
  return Number.POSITIVE_INFINITY;
}

function answerPlain(parts: ApiParts, answered: HttpResponse | Plain, origin: RequestOrigin): Promise<HttpResponse> | HttpResponse {
  return 'plain' in answered ? answer(parts, answered.plain, origin) : answered;
}

async function answer(parts: ApiParts, request: ApiRequest, origin: RequestOrigin): Promise<HttpResponse> {
  const outcome = await attempt(parts, request, origin);
  if ('problem' in outcome) throw named(outcome);
  return toResultResponse(outcome.result, outcome.decisionId);
}

const READING: ReadonlySet<string> = new Set(['read', 'list', 'listDeleted', 'export', 'schema']);

async function attempt(parts: ApiParts, request: ApiRequest, origin: RequestOrigin): Promise<Outcome> {
  const caller = await readCaller(parts, origin);
  const foresee = (tx: Transaction, definitions: Definitions): Promise<Found> | undefined => foreseeRead(tx, definitions, request);
  const run = (record: boolean): Promise<Outcome> =>
    inTransaction(parts, { caller, foresee }, async (asked) => {
      const job = toJob(asked, request);
      const outcome = await settle(job);
      if ('result' in outcome) job.hashes.check();
      if (record) await appendEntries(job, outcome);
      return outcome;
    });
  return READING.has(request.action) ? runRead(parts, run) : run(true);
}

async function answerBatch(parts: ApiParts, call: HttpRequest): Promise<HttpResponse> {
  refuseQuery(call);
  const { items, atomic } = parseBatch(call.body, parts.limits);
  const run = atomic ? runAll : runEach;
  const outcomes = await inTransaction(parts, { caller: await readCaller(parts, call.origin) }, async (asked) => {
    const done = await run({ tx: asked.tx, items, toJob: async (request) => toJob(await askAgain(asked), request) });
    if (!(done instanceof Problem)) asked.hashes.check();
    return done;
  });
  // Returned, not thrown, out of the transaction: throwing would undo the entries with the rest.
  if (outcomes instanceof Problem) throw outcomes;
  return toBatchResponse(outcomes, call.origin.requestId);
}

/** The problem with the entry under which it is on the record. */
function named({ problem, decisionId }: Extract<Outcome, { problem: Problem }>): Problem {
  if (decisionId === undefined || problem.extras.decisionId !== undefined) return problem;
  return new Problem(problem.code, problem.detail, { ...problem.extras, decisionId });
}
