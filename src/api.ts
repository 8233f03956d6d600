/**
 * The generic resource API: every door to the pipeline. A call is read into a request, run in one transaction with its
 * decision and entry, and answered after the commit.
 */
import { runAll, runEach } from './batch.ts';
import type { Principal } from './context/index.ts';
import { didYouMean, Problem } from './errors.ts';
import type { Identity, VerifiedToken } from './identity/index.ts';
import type { Model, ModelKeeper } from './model.ts';
import { appendEntries, type Outcome, settle } from './pipeline.ts';
import {
  type Answer,
  type ApiRequest,
  type Call,
  checkNoQuery,
  type RequestLimits,
  type RequestOrigin,
  type Route,
  readActionRequest,
  readBatch,
  readCreateRequest,
  readListRequest,
  readRecordRequest,
  readUpdateRequest,
} from './request/index.ts';
import { ordinaryResources } from './resource/index.ts';
import { toBatchAnswer, toResultAnswer } from './response/index.ts';
import { createPasswordHashes, HashNeeded, type Job, type JobSettings } from './steps/index.ts';
import type { Database, Transaction } from './storage/index.ts';

/** What the resource API is made of. */
export interface ApiParts {
  readonly database: Database;
  readonly identity: Identity;
  readonly model: ModelKeeper;
  readonly settings: JobSettings;
  readonly limits: RequestLimits;
  /** Largest body of an import. */
  readonly importBytes: number;
  /** relaxed: reads are answered even where their entry cannot be written. */
  readonly auditMode: 'strict' | 'relaxed';
}

/** Every route under `/api`. */
export function createApiRoutes(parts: ApiParts): readonly Route[] {
  const { limits } = parts;
  const door = (method: Route['method'], path: string, read: (call: Call) => ApiRequest): Route => ({
    method,
    path,
    handle: (call) => answer(parts, read(call), call.origin),
  });
  return [
    door('GET', '/api/:resource/schema', (call) => readRecordRequest(call, 'schema')),
    door('GET', '/api/:resource', (call) => readListRequest(call, limits)),
    door('POST', '/api/:resource', (call) => readCreateRequest(call)),
    door('GET', '/api/:resource/:id', (call) => readRecordRequest(call, 'read')),
    door('PUT', '/api/:resource/:id', (call) => readUpdateRequest(call)),
    door('DELETE', '/api/:resource/:id', (call) => readRecordRequest(call, 'delete')),
    door('POST', '/api/:resource/:action', (call) => readActionRequest(call, limits)),
    { ...door('POST', '/api/:resource/import', (call) => readActionRequest(call, limits, 'import')), bodyBytes: parts.importBytes },
    {
      method: 'POST',
      path: '/api/batch',
      cost: (call) => readBatch(call.body, limits).items.length,
      handle: (call) => answerBatch(parts, call),
    },
  ];
}

async function answer(parts: ApiParts, request: ApiRequest, origin: RequestOrigin): Promise<Answer> {
  const outcome = await attempt(parts, request, origin);
  if ('problem' in outcome) throw named(outcome);
  return toResultAnswer(outcome.result, outcome.decisionId);
}

const READING: ReadonlySet<string> = new Set(['read', 'list', 'export', 'schema']);

async function attempt(parts: ApiParts, request: ApiRequest, origin: RequestOrigin): Promise<Outcome> {
  const run = (record: boolean): Promise<Outcome> =>
    inTransaction(parts, origin, async (asked) => {
      const job = toJob(asked, request);
      const outcome = await settle(job);
      if ('result' in outcome) job.hashes.check();
      if (record) await appendEntries(job, outcome);
      return outcome;
    });
  try {
    return await run(true);
  } catch (error) {
    // Accepted by whoever chose `relaxed`: a read that cannot be recorded is answered, and is not on the record.
    const unrecorded = error instanceof Problem && error.code === 'STORAGE_UNAVAILABLE';
    if (!unrecorded || parts.auditMode === 'strict' || !READING.has(request.action)) throw error;
    return run(false);
  }
}

async function answerBatch(parts: ApiParts, call: Call): Promise<Answer> {
  checkNoQuery(call);
  const { items, atomic } = readBatch(call.body, parts.limits);
  const run = atomic ? runAll : runEach;
  const outcomes = await inTransaction(parts, call.origin, async (asked) => {
    const done = await run({ tx: asked.tx, items, toJob: async (request) => toJob(await askAgain(asked), request) });
    if (!(done instanceof Problem)) asked.hashes.check();
    return done;
  });
  // Returned, not thrown, out of the transaction: throwing would undo the entries with the rest.
  if (outcomes instanceof Problem) throw outcomes;
  return toBatchAnswer(outcomes, call.origin.requestId);
}

/** Who asks, in which transaction, under which model. */
interface Asked {
  readonly parts: ApiParts;
  readonly tx: Transaction;
  readonly token: VerifiedToken | undefined;
  readonly principal: Principal;
  readonly model: Model;
  readonly origin: RequestOrigin;
  readonly hashes: ReturnType<typeof createPasswordHashes>;
}

/** Identifies the caller and runs `work`, again with the hashes where it turned out to need them. */
async function inTransaction<T>(parts: ApiParts, origin: RequestOrigin, work: (asked: Asked) => Promise<T>): Promise<T> {
  const token = await parts.identity.readToken(origin.token);
  const made = new Map<string, string>();
  for (;;) {
    try {
      return await parts.database.transaction(async (tx) => work(await ask({ parts, origin, token, made }, tx)));
    } catch (error) {
      if (!(error instanceof HashNeeded)) throw error;
      for (const plain of error.plain) made.set(plain, await parts.identity.hashPassword(plain));
    }
  }
}

interface Asking {
  readonly parts: ApiParts;
  readonly origin: RequestOrigin;
  readonly token: VerifiedToken | undefined;
  readonly made: ReadonlyMap<string, string>;
}

async function ask({ parts, origin, token, made }: Asking, tx: Transaction): Promise<Asked> {
  const principal = await parts.identity.identify(tx, token);
  return { parts, tx, token, principal, model: await parts.model.at(tx), origin, hashes: createPasswordHashes(made) };
}

/** Who that is by now, in the same transaction. */
async function askAgain(asked: Asked): Promise<Asked> {
  return { ...asked, principal: await asked.parts.identity.identify(asked.tx, asked.token) };
}

function toJob({ parts, tx, principal, model, origin, hashes }: Asked, request: ApiRequest): Job {
  const resource = model.definitions.get(request.resource);
  if (resource === undefined || resource.internal) {
    const known = ordinaryResources(model.definitions).map((each) => each.name);
    const name = request.resource.slice(0, 64);
    throw new Problem('RESOURCE_UNKNOWN', `no resource is named "${name}"${didYouMean(name, known)}`);
  }
  return { tx, model, principal, request, origin, resource, settings: parts.settings, hashes, entries: [] };
}

/** The problem with the entry under which it is on the record. */
function named({ problem, decisionId }: Extract<Outcome, { problem: Problem }>): Problem {
  if (decisionId === undefined || problem.extras.decisionId !== undefined) return problem;
  return new Problem(problem.code, problem.detail, { ...problem.extras, decisionId });
}
