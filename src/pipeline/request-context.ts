/**
 * The context of a request: the data that its steps share while its transaction runs. The requests of a batch, and the rows of an import,
 * share one unit of work.
 */
import { ACTIONS } from '../actions.ts';
import type { AuditEntry, CountableDenial, DenialWindows } from '../audit/index.ts';
import type { Authentication, DiskState, Identification, PasswordClaim, PasswordProof } from '../authn/index.ts';
import type { Principal } from '../authz/context/index.ts';
import type { Decision } from '../authz/decision/index.ts';
import type { PolicyStore, RevisionedDatabase, Snapshot } from '../authz/index.ts';
import { didYouMean, type Issue, Problem } from '../errors.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import type { ApiRequest, RequestOrigin } from '../request/index.ts';
import { type Definitions, ordinaryResources, type Resource, type Row, type StoredRecord } from '../resources/index.ts';
import type { Budget, BudgetLimits, CursorKeys, CursorPosition, FoundForInsertion, Transaction } from '../storage/index.ts';

/** The components and options that the pipeline needs. */
export interface PipelineDeps {
  readonly database: RevisionedDatabase;
  readonly identity: Authentication;
  readonly policyStore: PolicyStore;
  readonly options: PipelineOptions;
  /** `relaxed`: a read succeeds even if its audit entry cannot be written. */
  readonly auditMode: 'strict' | 'relaxed';
  readonly observer?: DecisionObserver | undefined;
  /** The windows in which repeated denials of callers without a token are counted. Without them, each denial has an audit entry. */
  readonly denialWindows?: DenialWindows | undefined;
  /** The space for audit entries. While it has a fault, requests without a token are refused, so that others can be recorded for longer. */
  readonly disk?: DiskState | undefined;
}

/** Options of the steps. */
export interface PipelineOptions {
  readonly timeZone: string;
  readonly pageDefault: number;
  readonly exportMax: number;
  /** True if updates and deletions must name the version that they change. */
  readonly ifMatch: 'optional' | 'required';
  /** The limits of a request or batch. */
  readonly budget: BudgetLimits;
  /** The percentage of `budget` that callers without a token have. */
  readonly anonymousBudget: number;
  /** Maximum number of records that the requests of a transaction expand. */
  readonly expandMax: number;
  /** Maximum number of records that a transaction deletes or restores by cascade. */
  readonly cascadeMax: number;
  /** Maximum number of bytes of condition values in an audit entry. */
  readonly factsBytes: number;
  readonly cursorKeys: CursorKeys;
}

/** Receives decisions for metrics. */
export interface DecisionObserver {
  /** Called after each decision, including repeated decisions and decisions without an audit entry. `ms` is the duration in milliseconds. */
  decided(ms: number): void;
  /** Called after each commit, with the audit entries that the transaction appended. */
  recorded(entries: readonly AuditEntry[]): void;
}

/** The caller of a request, with a verified token. */
export interface Caller {
  readonly origin: RequestOrigin;
  /** Identifies the caller in the queue of long attempts: the subject of the token, or the network. */
  readonly key: string;
  /** The session of the token; undefined without a token, and for a token of another issuer. */
  readonly sessionId?: string | undefined;
  readonly identification: Identification;
  /** Verifies the token again, before a further transaction of the same request. @throws Problem IDENTITY_TOKEN_EXPIRED */
  verifyToken(): Promise<void>;
}

/** The transaction, the caller and the data that the requests of one unit of work share. */
export interface UnitOfWork {
  readonly tx: Transaction;
  readonly caller: Caller;
  readonly principal: Principal;
  readonly policyStore: Pick<PolicyStore, 'withRoles'>;
  /** The policies in force, with those of the role of the caller. */
  readonly snapshot: Snapshot;
  /** The rows that were loaded with the caller: of the only request, or those on which the creates of a batch depend. */
  readonly prefetched?: Prefetched | undefined;
  readonly hashes: PasswordHashes;
  readonly budget: Budget;
  readonly options: PipelineOptions;
  /** Audit entries that were appended in the transaction so far. */
  readonly appended: AuditEntry[];
  /** The denials among them that only add to a number if an earlier denial was the same. Absent if each denial has an audit entry. */
  readonly denials?: Denials | undefined;
  readonly observer?: DecisionObserver | undefined;
}

/** Rows that a request needs first, as loaded with the caller and without locks. */
export interface Prefetched {
  /** The row of the record that the request names; null if there is none. Absent for an action that loads its records later. */
  readonly row?: Row | null | undefined;
  /** The result of the lookups for creates. */
  readonly found?: FoundForInsertion | undefined;
}

/** The countable denials of a unit of work so far, and the windows that count them. */
export interface Denials {
  readonly windows: DenialWindows;
  readonly appended: CountableDenial[];
}

/** One request of a unit of work. */
export interface RequestContext extends Omit<UnitOfWork, 'caller' | 'policyStore'> {
  readonly origin: RequestOrigin;
  readonly request: ApiRequest;
  readonly resource: Resource;
  /** The current password that a user sent with a new password. `request.data` does not contain the current password, because it is not a field. */
  readonly currentPassword?: Json | undefined;
  /** The session that a change of the own password does not end. Absent: the change ends all sessions of the user. */
  readonly keptSession?: string | undefined;
  /** The position of the cursor with all sort values, for an export to a file. Absent: long sort values are read again from the record. */
  readonly after?: CursorPosition | undefined;
  /** Audit entries of the decisions so far. The entries are appended when the request has succeeded or failed. */
  readonly entries: AuditEntry[];
}

/** The password hashes and the proof of the current password that earlier runs of the unit of work have computed. */
export interface PasswordHashes {
  /** Returns the hash of a password. If the hash is not computed yet, notes that the hash is missing and returns a placeholder. */
  of(plain: string): string;
  /** Returns the proof of a claim. If the claim is not verified yet, notes that the proof is missing and returns undefined. */
  proofOf(claim: PasswordClaim): PasswordProof | undefined;
  /** Ends a run. @throws HashNeeded if a hash or a proof was missing; the unit of work computes the missing values and runs again */
  assertComplete(): void;
}

/** Creates the context of a request. @throws Problem RESOURCE_UNKNOWN */
export function createRequestContext(unit: Omit<UnitOfWork, 'policyStore'>, request: ApiRequest): RequestContext {
  const { tx, snapshot, principal, prefetched, hashes, budget, options, appended, denials, observer, caller } = unit;
  const resource = snapshot.definitions.get(request.resource);
  if (resource === undefined || resource.internal) {
    const name = request.resource.slice(0, 64);
    throw new Problem('RESOURCE_UNKNOWN', `no resource is named "${name}"${suggestion(name, snapshot.definitions, principal)}`);
  }
  const { origin } = caller;
  // The spread comes first: behind another member, it would copy the members one by one.
  return {
    ...splitCurrentPassword(request),
    tx,
    snapshot,
    principal,
    prefetched,
    options,
    budget,
    hashes,
    appended,
    denials,
    observer,
    origin,
    resource,
    entries: [],
  };
}

/** The name of the member that contains the current password when users change their own password. The member is not a field. */
export const CURRENT_PASSWORD = 'currentPassword';

/** Moves the current password out of the data of a request, so that no condition reads it and no audit entry contains it. */
function splitCurrentPassword(request: ApiRequest): Pick<RequestContext, 'request' | 'currentPassword'> {
  const { resource, action, data } = request;
  if (resource !== 'User' || ACTIONS.get(action)?.decides !== 'update' || !isObject(data)) return { request };
  const currentPassword = ownValue(data, CURRENT_PASSWORD);
  if (currentPassword === undefined) return { request };
  const others = Object.entries(data).filter(([name]) => name !== CURRENT_PASSWORD);
  return { request: { ...request, data: Object.fromEntries(others) }, currentPassword };
}

/** Returns a suggestion for a mistyped resource name, to admins only: other callers must not learn the names of resources that policies hide. */
function suggestion(name: string, definitions: Definitions, { role }: Principal): string {
  if (role !== 'admin') return '';
  return didYouMean(
    name,
    ordinaryResources(definitions).map((each) => each.name),
  );
}

/** The records that were found: none, one, or (by filter) up to two. */
export type Found = readonly StoredRecord[];

/** A record as the request would store it. */
export interface Proposal {
  readonly record: StoredRecord;
  readonly values: JsonObject;
  /** Names of the fields whose value is removed. */
  readonly cleared: readonly string[];
  readonly issues: readonly Issue[];
}

/** The results of the steps so far. */
export interface Decided {
  readonly found: Found;
  readonly proposals: readonly Proposal[];
  readonly decision: Decision;
  /** The second decision of an action that needs two. */
  readonly secondDecision?: Decision | undefined;
}

/** The result of an action, before it is wrapped in a response body. */
export interface Result {
  readonly status: number;
  readonly data: unknown;
  /** Members of the response beside `data`: count, total, nextCursor, created, updated, message, warnings. */
  readonly extras?: JsonObject;
  /** The position of `nextCursor` with all sort values. Not part of the response. */
  readonly next?: CursorPosition | undefined;
  /** Version of the record, for the ETag. */
  readonly version?: number;
  /** Path of a new record. */
  readonly location?: string;
}
