import { type AuditEntry, appendEntry, createEntryId, loadHistoryFacts } from '../audit/index.ts';
import type { Checkpoints } from '../audit/integrity/index.ts';
import type { Authentication } from '../authn/index.ts';
import type { Principal } from '../authz/context/index.ts';
import type { PolicyStore, Snapshot } from '../authz/index.ts';
import type { PolicyLimits } from '../authz/policies/index.ts';
import { Problem } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';
import type { HttpRequest, HttpResponse, Method, Route } from '../request/index.ts';
import type { Definitions } from '../resources/index.ts';
import type { Database, Transaction } from '../storage/index.ts';
import type { ImportLimits } from '../transfer/index.ts';
import { readQueryMembers } from './admin-parsing.ts';
import { parsePolicyImportBody, type SentImport } from './policy-import-body.ts';

/** What admin endpoints are made of. */
export interface AdminParts {
  readonly database: Database;
  readonly identity: Authentication;
  readonly policyStore: PolicyStore;
  readonly limits: PolicyLimits;
  /** Policies that are imported at once, at most. */
  readonly importPolicies: number;
  /** Bounds of what they are sent as. */
  readonly importBounds: ImportLimits;
  readonly timeZone: string;
  /** True if a change of a policy or an assignment must name the version that it changes (If-Match). */
  readonly ifMatch: 'optional' | 'required';
  /** What is signed of the record, and with what. */
  readonly checkpoints: Pick<Checkpoints, 'keys' | 'heads'>;
  /** The project's definition files as they are now. @throws SetupError with every mistake in them. */
  readDefinitions(): Definitions;
}

/** A call of an admin, inside its transaction. */
export interface AdminCall {
  readonly call: HttpRequest;
  readonly tx: Transaction;
  readonly admin: Principal & { readonly id: string };
  readonly snapshot: Snapshot;
  readonly parts: AdminParts;
  /** What was sent, where that is read as a file. */
  readonly sent?: SentImport | undefined;
  /** Leaves an entry of kind `admin` for a change; it is committed with the change. */
  record(change: AdminChange): Promise<void>;
}

/** A change as the record shows it: `update` of `Policy` … "deactivated policy …". */
export interface AdminChange {
  readonly resource: 'Policy' | 'UserPolicy' | 'RolePolicy';
  readonly action: 'create' | 'update' | 'delete' | 'import';
  /** Absent where it is about many. */
  readonly recordId?: string;
  readonly reason: string;
}

/** One admin endpoint: its path below `/admin/api` and what it does. */
export interface Endpoint {
  readonly method: Method;
  readonly path: string;
  /** Query parameters that it has; any other is refused. */
  readonly query?: readonly string[];
  /** Set where the body is that of an import, of this list: as long as those may be, and NDJSON too. */
  readonly takes?: string;
  handle(call: AdminCall): Promise<HttpResponse>;
}

/** An endpoint as a route that only an admin's token opens. */
export function toRoute(parts: AdminParts, endpoint: Endpoint): Route {
  return {
    method: endpoint.method,
    path: `/admin/api${endpoint.path}`,
    ...(endpoint.takes !== undefined && { streams: 'body', bodyBytes: parts.importBounds.bodyBytes }),
    admission: { freeBytes: 0, admit: (origin) => admit(parts, { origin, method: endpoint.method }) },
    handle: async (call) => {
      const token = await parts.identity.readToken(call.origin.token);
      return answerAs(parts, endpoint, { call, identify: (tx) => parts.identity.identify(tx, token) });
    },
  };
}

/** Refuses everyone but admins before any of a body is read. The transaction of the request identifies the admin again. */
async function admit({ identity, database }: AdminParts, asked: Asked): Promise<number> {
  const token = await identity.readToken(asked.origin.token);
  const admin = await database.transaction(async (tx) => admitAdmin(tx, asked, await identity.identify(tx, token)));
  if (admin instanceof Problem) throw admin;
  return Number.POSITIVE_INFINITY;
}

/** A call, and how whoever makes it is known. */
export interface Attended {
  readonly call: HttpRequest;
  identify(tx: Transaction): Promise<Principal>;
}

/** Answers a call as whoever makes it, where that is an admin. */
export async function answerAs(parts: AdminParts, endpoint: Endpoint, { call, identify }: Attended): Promise<HttpResponse> {
  // Read before the transaction, which waits for nobody.
  const sent = endpoint.takes === undefined ? undefined : await parsePolicyImportBody(call, endpoint.takes, parts.importBounds);
  const answer = await parts.database.transaction(async (tx) => {
    const admin = await admitAdmin(tx, call, await identify(tx));
    if (admin instanceof Problem) return admin;
    readQueryMembers(call, endpoint.query ?? []);
    return endpoint.handle({ ...(await toAdminCall(parts, { tx, call, admin })), sent });
  });
  if (answer instanceof Problem) throw answer;
  return answer;
}

type Asked = Pick<HttpRequest, 'origin' | 'method'>;

/** Returns the admin, or the refusal of another user. That has an entry, so it is not thrown: throwing would undo the entry. */
export async function admitAdmin(tx: Transaction, asked: Asked, principal: Principal): Promise<AdminCall['admin'] | Problem> {
  const { id, role } = principal;
  if (id === undefined) throw new Problem('IDENTITY_REQUIRED', 'the admin endpoints require an admin bearer token');
  if (role === 'admin') return { ...principal, id };
  const reason = `role ${role} is not admin`;
  const entry = toEntry(asked, principal, {
    now: tx.now,
    allowed: false,
    resource: 'Admin',
    action: asked.method.toLowerCase(),
    reason,
    recordId: undefined,
    epoch: 0,
  });
  await appendEntry(tx, entry);
  return new Problem('ACCESS_ADMIN', reason, { decisionId: entry.id });
}

async function toAdminCall(parts: AdminParts, { tx, call, admin }: Pick<AdminCall, 'tx' | 'call' | 'admin'>): Promise<AdminCall> {
  const snapshot = await parts.policyStore.snapshot(tx);
  return {
    call,
    tx,
    admin,
    snapshot,
    parts,
    async record(change) {
      const facts = await loadHistoryFacts(tx);
      await appendEntry(tx, toEntry(call, admin, { ...change, facts, now: tx.now, allowed: true, epoch: snapshot.revision.number }));
    },
  };
}

interface EntryParts {
  readonly now: number;
  readonly allowed: boolean;
  readonly resource: string;
  readonly action: string;
  readonly reason: string;
  readonly recordId?: string | undefined;
  readonly epoch: number;
  readonly facts?: JsonObject | undefined;
}

function toEntry({ origin }: Asked, principal: Principal, { now, ...parts }: EntryParts): AuditEntry {
  return {
    ...parts,
    id: createEntryId(),
    at: new Date(now).toISOString(),
    kind: 'admin',
    userId: principal.id,
    role: principal.role,
    requestId: origin.requestId,
    ip: origin.ip,
  };
}
