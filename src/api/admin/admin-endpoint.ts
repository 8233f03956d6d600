import { type ADMIN_CHANGE_RESOURCES, ADMIN_RESOURCE, type AuditEntry, appendEntry, loadHistoryFacts } from '../../audit/index.ts';
import type { Checkpoints } from '../../audit/integrity/index.ts';
import type { Authentication } from '../../authn/index.ts';
import type { Principal } from '../../authz/context/index.ts';
import type { PolicyStore, Snapshot } from '../../authz/index.ts';
import type { PolicyLimits } from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import { toCallerKey, withAuditMode } from '../../pipeline/index.ts';
import {
  type Answers,
  type EndpointDescription,
  type EndpointInput,
  type HttpRequest,
  type HttpResponse,
  type NO_MEMBERS,
  parseEndpointRequest,
  parseIfMatch,
  type ResponseOf,
  type Route,
  toETag,
  validateIfMatch,
} from '../../request/index.ts';
import type { Definitions } from '../../resources/index.ts';
import type { ObjectSchema, Schema, TypeOf } from '../../schemas/index.ts';
import type { Database, Transaction } from '../../storage/index.ts';
import type { ImportLimits } from '../../transfer/index.ts';
import {
  type AdmittedRequest,
  type AuditAction,
  type Auditor,
  admitAdmin,
  admitCaller,
  type KnownPrincipal,
  type RequestInfo,
  toAdminEntry,
} from '../admission/index.ts';
import type { DecisionStreams } from '../streams/index.ts';
import { type PolicyImportBody, parsePolicyImportBody } from './admin-parsing.ts';
import type { SystemSource } from './system-status.ts';

/** Dependencies and configuration of the admin endpoints. */
export interface AdminDeps {
  readonly database: Database;
  readonly identity: Authentication;
  readonly policyStore: PolicyStore;
  readonly limits: PolicyLimits;
  /** Maximum number of policies in an import. */
  readonly importPolicies: number;
  /** Limits on the body of an import. */
  readonly importBounds: ImportLimits;
  /** Maximum milliseconds of the searches of a request. */
  readonly milliseconds: number;
  /** Maximum bytes of a page of policies with their rules. */
  readonly pageBytes: number;
  readonly timeZone: string;
  /** True if a change of a policy or an assignment must name the version that it changes (If-Match). */
  readonly ifMatch: 'optional' | 'required';
  /** `relaxed`: a read succeeds even if its audit entry cannot be written. */
  readonly auditMode: 'strict' | 'relaxed';
  /** The signed checkpoints of the audit log, and their keys. */
  readonly checkpoints: Pick<Checkpoints, 'keys' | 'heads'>;
  /** The open streams of the audit log. */
  readonly streams: DecisionStreams;
  /** The status of this process. */
  readonly system: SystemSource;
  /** Reads the current definition files. @throws SetupError with every mistake in them. */
  readDefinitions(): Definitions;
}

/** A request of an admin, with its transaction. */
export interface AdminRequest<
  Params extends ObjectSchema = ObjectSchema,
  Query extends ObjectSchema = ObjectSchema,
  Body extends Schema = Schema,
> extends EndpointInput<Params, Query, Body> {
  readonly request: HttpRequest;
  readonly tx: Transaction;
  /** The caller: an admin, or an auditor. */
  readonly admin: KnownPrincipal;
  /** The right of a caller who is not an admin. Only endpoints with `auditorAction` have such callers. */
  readonly auditor?: Auditor | undefined;
  readonly snapshot: Snapshot;
  readonly deps: AdminDeps;
  /** Body of an import. */
  readonly upload?: PolicyImportBody | undefined;
  /**
   * Identifies and admits the caller again, in a later transaction of the same request. Returns the problem of a caller who is no longer
   * admitted; its transaction must commit, because it has the entry of the denial.
   */
  admitAgain(tx: Transaction): Promise<AdmittedRequest | Problem>;
  /** Verifies the token again, before a further transaction of the same request. @throws Problem IDENTITY_TOKEN_EXPIRED */
  verifyToken(): Promise<void>;
  /** Writes an audit entry of kind `admin`, which is committed with the change. */
  audit(change: AdminChange): Promise<void>;
}

/** A change in the audit log: `update` of `Policy`, with a reason such as `updated policy "Editors"`. */
export interface AdminChange {
  readonly resource: (typeof ADMIN_CHANGE_RESOURCES)[number];
  readonly action: 'create' | 'update' | 'delete' | 'import' | 'apply' | 'rollback' | 'assign';
  /** The id of the changed record; absent if the change affects several records. */
  readonly recordId?: string;
  /** A sentence that says what was changed. */
  readonly reason: string;
  /** The reason that the admin gave for the change. */
  readonly changeReason?: string | undefined;
}

/** An admin endpoint: its description, and the handler of its requests. */
export interface AdminEndpoint<
  Params extends ObjectSchema = ObjectSchema,
  Query extends ObjectSchema = ObjectSchema,
  Body extends Schema = Schema,
  Returns extends Answers = Answers,
> extends EndpointDescription<Params, Query, Body, Returns> {
  /** Name of the list in the body of an import. Such a body is a stream, and may be NDJSON. The handler validates it. */
  readonly importList?: string;
  /**
   * For an endpoint that changes nothing although its method is POST: returns the members of the body that the audit entry names. They must
   * be short, and contain no hypothetical values.
   */
  question?(body: TypeOf<Body>): JsonObject;
  /**
   * True if the request takes long unless there are few data: it begins beside other requests, and not in the batch of short ones. A search of
   * the audit log begins short, because most of them ask for the newest entries, which takes milliseconds with any log, and would otherwise
   * wait in the queue of long attempts.
   */
  readonly beginsLong?: true;
  /** False if the response shows neither policies, audit entries nor values: a read then has no audit entry. Default: true. */
  readonly isAudited?: false;
  /** The action on the audit log that users who are not admins may be allowed. Absent if the endpoint is for admins only. */
  readonly auditorAction?: AuditAction;
  /** Set if the response is sent in pieces, which later transactions read: it has no total timeout. */
  readonly streams?: 'answer';
  handle(request: AdminRequest<Params, Query, Body>): Promise<ResponseOf<Returns>>;
}

/** Creates an admin endpoint. The types of its handler are those of its schemas. Its path and id are completed with `/admin/api` and `admin.`. */
export function adminEndpoint<
  Returns extends Answers,
  Params extends ObjectSchema = typeof NO_MEMBERS,
  Query extends ObjectSchema = typeof NO_MEMBERS,
  Body extends Schema = Schema,
>({ path, id, problems = [], ...endpoint }: Omit<AdminEndpoint<Params, Query, Body, Returns>, 'caller'>): AdminEndpoint {
  const described = { ...endpoint, path: `/admin/api${path}`, id: `admin.${id}`, caller: 'bearer' as const, problems: [403, ...problems] };
  return described as unknown as AdminEndpoint;
}

/** Returns the route of an endpoint. The route requires an admin token. */
export function toRoute(deps: AdminDeps, endpoint: AdminEndpoint): Route {
  return {
    method: endpoint.method,
    path: endpoint.path,
    ...(endpoint.importList !== undefined && { streams: 'body', bodyBytes: deps.importBounds.bodyBytes }),
    ...(endpoint.streams !== undefined && { streams: endpoint.streams }),
    admission: { freeBytes: 0, admit: (origin) => admit(deps, { origin, operation: operationOf(endpoint) }) },
    handle: async (request) => {
      const token = await deps.identity.readToken(request.origin.token);
      const caller = toCallerKey(token, request.origin.ip);
      return handleAs(deps, endpoint, { request, caller, identify: (tx) => deps.identity.identify(tx, token) });
    },
  };
}

/** Refuses callers who are not admins before the body is read. The transaction of the request identifies the admin again. */
async function admit({ identity, database }: AdminDeps, info: RequestInfo): Promise<number> {
  const token = await identity.readToken(info.origin.token);
  const admin = await database.transaction(async (tx) => admitAdmin(tx, info, await identity.identify(tx, token)));
  if (admin instanceof Problem) throw admin;
  return Number.POSITIVE_INFINITY;
}

/** A request, and the function that identifies its caller. */
export interface IdentifiedRequest {
  readonly request: HttpRequest;
  /** Identifies the caller in the queue of long attempts; absent for a command. */
  readonly caller?: string;
  identify(tx: Transaction): Promise<Principal>;
}

/**
 * Handles a request if the identified caller is an admin. Changes append their audit entry with `audit`; this function appends the entry of
 * every other request that succeeds, except to endpoints with `isAudited: false`.
 */
export async function handleAs(
  deps: AdminDeps,
  endpoint: AdminEndpoint,
  { request, caller, identify }: IdentifiedRequest,
): Promise<HttpResponse> {
  // The body is read before the transaction starts, so that a slow client does not block others.
  const bounds = { ...deps.importBounds, maxItems: deps.importPolicies };
  const upload = endpoint.importList === undefined ? undefined : await parsePolicyImportBody(request, endpoint.importList, bounds);
  const info: RequestInfo = { origin: request.origin, operation: operationOf(endpoint) };
  const admitIn = async (tx: Transaction): Promise<AdmittedRequest | Problem> => {
    const principal = await identify(tx);
    const snapshot = await deps.policyStore.snapshot(tx);
    const { auditorAction } = endpoint;
    const admitted = await admitCaller(tx, { info, principal, snapshot, auditorAction, timeZone: deps.timeZone });
    return admitted instanceof Problem ? admitted : { ...admitted, snapshot };
  };
  const options = { caller, milliseconds: deps.milliseconds };
  // Few requests may take long at once, so a caller who is not admitted is refused before the request waits for its turn.
  const first = endpoint.beginsLong === true ? await deps.database.transaction(admitIn, options) : undefined;
  if (first instanceof Problem) throw first;
  const run = async (isAudited: boolean): Promise<HttpResponse | Problem> => {
    let last: Transaction | undefined;
    const work = async (tx: Transaction): Promise<HttpResponse | Problem> => {
      last = tx;
      const admitted = await admitIn(tx);
      if (admitted instanceof Problem) return admitted;
      const input = parseEndpointRequest(endpoint, request);
      const again = { admitAgain: admitIn, verifyToken: async () => void (await deps.identity.readToken(request.origin.token)) };
      const adminRequest = { ...input, ...toAdminRequest(deps, { tx, request, ...admitted }), upload, ...again };
      let hasEntry = false;
      const audit = (change: AdminChange): Promise<void> => {
        hasEntry = true;
        return adminRequest.audit(change);
      };
      const response = await endpoint.handle({ ...adminRequest, audit });
      if (isAudited && !hasEntry && endpoint.isAudited !== false) appendEntry(tx, toReadEntry(endpoint, adminRequest));
      return response;
    };
    const response = await deps.database.transaction(work, { ...options, beginsLong: endpoint.beginsLong });
    if (last !== undefined) deps.policyStore.keepChange(last);
    return response;
  };
  const isRead = endpoint.method === 'GET' || endpoint.question !== undefined;
  const response = await (isRead ? withAuditMode(deps, run) : run(true));
  if (response instanceof Problem) throw response;
  return response;
}

/** Returns the name of the endpoint in audit entries of reads and denials. */
function operationOf({ id }: Pick<AdminEndpoint, 'id'>): string {
  return id.replace(/^admin\./, '');
}

/** Returns the audit entry of a request that changed nothing. It names the endpoint and the question, not the answer. */
function toReadEntry(endpoint: AdminEndpoint, { request, admin, auditor, snapshot, tx, params, query, body }: AdminRequest): AuditEntry {
  const { cursor: _, after: __, ...members } = query as JsonObject;
  const { id, policyId } = params as { readonly id?: string; readonly policyId?: string };
  const question: JsonObject = { ...(params as JsonObject), ...members, ...endpoint.question?.(body) };
  const asked = Object.keys(question).length === 0 ? undefined : { question };
  if (auditor !== undefined) {
    const { decision } = auditor;
    const facts = { ...decision.facts, ...asked };
    // Without the id of a record, because the decision is about entries that were not known yet. The question has the id.
    return toAdminEntry(request, admin, { ...decision, facts: Object.keys(facts).length === 0 ? undefined : facts });
  }
  return toAdminEntry(request, admin, {
    now: tx.now,
    allowed: true,
    resource: ADMIN_RESOURCE,
    action: operationOf(endpoint),
    recordId: id ?? policyId,
    reason: `${endpoint.method} ${endpoint.path}`,
    epoch: snapshot.revision.number,
    facts: asked,
  });
}

function toAdminRequest(
  deps: AdminDeps,
  caller: Pick<AdminRequest, 'tx' | 'request'> & AdmittedRequest,
): Omit<AdminRequest, keyof EndpointInput<ObjectSchema, ObjectSchema, Schema> | 'admitAgain' | 'verifyToken'> {
  const { tx, request, snapshot, admin } = caller;
  return {
    ...caller,
    deps,
    async audit({ changeReason, ...change }) {
      const facts = { ...(await loadHistoryFacts(tx)), ...(changeReason !== undefined && { changeReason }) };
      appendEntry(tx, toAdminEntry(request, admin, { ...change, facts, now: tx.now, allowed: true, epoch: snapshot.revision.number }));
    },
  };
}

/**
 * Refuses the change of a policy or an assignment that another admin has changed since the caller read it. The transaction must
 * have locked the policy or assignment. @throws Problem REQUEST_MALFORMED, RECORD_VERSION, RECORD_VERSION_REQUIRED.
 */
export function validatePolicyVersion(
  { request, deps }: Pick<AdminRequest, 'request' | 'deps'>,
  subject: 'policy' | 'assignment',
  version: number | undefined,
): void {
  validateIfMatch({ ifMatch: parseIfMatch(request.header('if-match')), version, subject, requirement: deps.ifMatch });
}

/** Validates the version of an assignment that may not exist yet. Only the renewal of an existing assignment needs a version. */
export function validateRenewalVersion(admin: AdminRequest, version: number | undefined): void {
  const requirement = version === undefined ? 'optional' : admin.deps.ifMatch;
  validateIfMatch({ ifMatch: parseIfMatch(admin.request.header('if-match')), version, subject: 'assignment', requirement });
}

/** Returns the headers of a response with one policy or assignment. */
export function versionHeaders({ version }: { readonly version: number }): NonNullable<HttpResponse['headers']> {
  return { etag: toETag(version) };
}
