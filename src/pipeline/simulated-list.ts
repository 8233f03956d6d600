import { createSecretKey } from 'node:crypto';
import type { Principal } from '../authz/context/index.ts';
import type { Snapshot } from '../authz/index.ts';
import type { RequestOrigin } from '../request/index.ts';
import type { StoredRecord } from '../resources/index.ts';
import { createBudget, type Transaction } from '../storage/index.ts';
import { runPipeline } from './pipeline.ts';
import { type Caller, createRequestContext, type PipelineOptions } from './request-context.ts';
import { createPasswordHashes } from './steps/password-changes.ts';

/** A list of all records of a resource that is not a request of a client. */
export interface SimulatedList {
  readonly tx: Transaction;
  readonly snapshot: Snapshot;
  readonly principal: Principal;
  readonly origin: RequestOrigin;
  readonly timeZone: string;
  readonly resource: string;
  /** Number of records of the resource. */
  readonly records: number;
}

const KEY = createSecretKey(Buffer.alloc(32));
const LIMITS = { milliseconds: 600_000, rows: 1_000_000_000, answerBytes: 1_000_000_000 };
const OPTIONS: Omit<PipelineOptions, 'timeZone'> = {
  ...{ pageDefault: 1, exportMax: 1, expandMax: 0, cascadeMax: 0, factsBytes: 0, anonymousBudget: 100 },
  budget: LIMITS,
  ifMatch: 'optional',
  // A page contains all records, so there is no cursor.
  cursorKeys: { encryption: KEY, signature: KEY },
};

/** Runs a list with the steps of a request, and returns the ids of its records; undefined if it is denied. Appends no audit entry. */
export async function simulateList(list: SimulatedList): Promise<readonly string[] | undefined> {
  const { tx, snapshot, principal, origin, timeZone, resource, records } = list;
  const caller: Caller = {
    origin,
    key: '',
    identification: { query: () => undefined, toPrincipal: () => principal },
    verifyToken: async () => undefined,
  };
  const hashes = createPasswordHashes({ hashes: new Map(), verified: undefined });
  const unit = { tx, caller, principal, snapshot, hashes, budget: createBudget(LIMITS), options: { ...OPTIONS, timeZone }, appended: [] };
  const request = { resource, action: 'list', where: [], typed: true, sort: [], total: false, limit: records + 1 } as const;
  const outcome = await runPipeline(createRequestContext(unit, request));
  if ('result' in outcome) return (outcome.result.data as readonly StoredRecord[]).map(({ id }) => id);
  if (outcome.problem.code === 'ACCESS_DENIED') return undefined;
  throw outcome.problem;
}
