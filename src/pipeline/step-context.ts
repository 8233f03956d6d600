import type { AuditEntry } from '../audit/index.ts';
import type { Principal } from '../authz/context/index.ts';
import type { Decision } from '../authz/decision/index.ts';
import type { Model } from '../authz/index.ts';
import type { Issue } from '../errors.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import type { ApiRequest, RequestOrigin } from '../request/index.ts';
import type { Resource, StoredRecord } from '../resources/index.ts';
import type { CursorKey, Transaction } from '../storage/index.ts';
import type { PasswordHashes } from './steps/password-hashes.ts';

/** The settings that steps go by. */
export interface JobSettings {
  readonly timeZone: string;
  readonly pageDefault: number;
  readonly exportMax: number;
  /** Whether updates and deletions have to say which version they change. */
  readonly ifMatch: 'optional' | 'required';
  /** Rows a list may look at in memory for one page. */
  readonly scanRows: number;
  readonly scanMilliseconds: number;
  /** Records that the requests of a transaction may expand. */
  readonly expandMax: number;
  /** Records that may be deleted in a transaction because of others, and as many that may be restored so. */
  readonly cascadeMax: number;
  /** Bytes of condition values kept in an entry. */
  readonly factsBytes: number;
  readonly cursorKey: CursorKey;
}

/** Who is told of decisions. */
export interface DecisionWatch {
  /** One was made in so many milliseconds. Those that are made again, and those that leave no entry, count too. */
  decided(ms: number): void;
  /** These are on the record now. */
  recorded(entries: readonly AuditEntry[]): void;
}

/** One request for one action, while its transaction runs. */
export interface Job {
  readonly tx: Transaction;
  readonly model: Model;
  readonly principal: Principal;
  /** The record that the request names, where that was asked for already. */
  readonly foreseen?: Promise<Found> | undefined;
  readonly request: ApiRequest;
  /** The current password that a user sent beside a new one. It is no value of a field, so `request.data` does not have it. */
  readonly currentPassword?: Json | undefined;
  readonly origin: RequestOrigin;
  readonly resource: Resource;
  readonly settings: JobSettings;
  readonly hashes: PasswordHashes;
  /** Entries of the decisions made so far; appended when the work is done or has failed. */
  readonly entries: AuditEntry[];
  /** Entries that were appended in the transaction, by this job and others. */
  readonly appended: AuditEntry[];
  readonly watch?: DecisionWatch | undefined;
}

/** What the load step found: none, one, or (by filter) up to two records. */
export type Found = readonly StoredRecord[];

/** A record as the request would have it. */
export interface Proposal {
  readonly record: StoredRecord;
  readonly values: JsonObject;
  /** Fields set to no value. */
  readonly cleared: readonly string[];
  readonly issues: readonly Issue[];
}

/** What the steps before have worked out. */
export interface Decided {
  readonly found: Found;
  readonly proposals: readonly Proposal[];
  readonly decision: Decision;
  /** Of an action that takes two: on the other. */
  readonly also?: Decision | undefined;
}

/** What an action comes to, before it is put in an envelope. */
export interface Result {
  readonly status: number;
  readonly data: unknown;
  /** Members beside `data`: count, total, nextCursor, created, updated, message, warnings. */
  readonly extras?: JsonObject;
  /** Record version, for the ETag. */
  readonly version?: number;
  /** Address of a new record. */
  readonly location?: string;
}

/** The steps of one action, in the order they are taken. */
export type StepRow = readonly [
  load: (job: Job) => Promise<Found>,
  values: (job: Job, found: Found) => readonly Proposal[],
  /** Refuses with ACCESS_DENIED, or returns the decision; leaves its entry in the job either way. */
  decide: (job: Job, found: Found, proposals: readonly Proposal[]) => Promise<Decision>,
  /** Refuses what is allowed but impossible: no such record, another version, broken values. */
  check: (job: Job, found: Found, proposals: readonly Proposal[]) => Promise<void>,
  /** Decides again on the record as it would become; or, where an action decides two, on the other, whose decision it returns. */
  redecide: (job: Job, decided: Decided) => Promise<Decision | undefined>,
  perform: (job: Job, decided: Decided) => Promise<Result>,
];
