/** The handling of a request to an admin endpoint, by HTTP (`endpoint-route.ts`) or by a command (`endpoint-command.ts`). */
import { ADMIN_RESOURCE, type AuditEntry, appendEntry, loadHistoryFacts } from '../../audit/index.ts';
import type { Principal } from '../../authz/context/index.ts';
import { Problem } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import { withAuditMode } from '../../pipeline/index.ts';
import type { Answers, RequestOrigin, ResponseOf } from '../../request/index.ts';
import type { ObjectSchema, Schema } from '../../schemas/index.ts';
import type { Transaction } from '../../storage/index.ts';
import { type AdmittedRequest, admitCaller, toAdminEntry } from '../admission/index.ts';
import { type AdminChange, type AdminDeps, type AdminEndpoint, type AdminInput, type AdminRequest, operationOf } from './admin-endpoint.ts';
import type { PolicyImportBody } from './admin-parsing.ts';

/** A request to an admin endpoint whose caller is not identified yet. */
export interface EndpointCall<Params extends ObjectSchema, Query extends ObjectSchema, Body extends Schema> {
  readonly origin: RequestOrigin;
  /** Identifies the caller in the queue of long attempts; absent for a command. */
  readonly caller?: string;
  /** Body of an import. */
  readonly upload?: PolicyImportBody | undefined;
  identify(tx: Transaction): Promise<Principal>;
  /** Verifies the token again. @throws Problem IDENTITY_TOKEN_EXPIRED */
  verifyToken(): Promise<void>;
  /** Validates the input, after its caller has been admitted. @throws Problem with every mistake */
  parse(): AdminInput<Params, Query, Body>;
}

/**
 * Handles a request if the identified caller is an admin. Changes append their audit entry with `audit`; this function appends the entry of
 * every other request that succeeds, except to endpoints with `isAudited: false`.
 */
export async function runEndpoint<P extends ObjectSchema, Q extends ObjectSchema, B extends Schema, R extends Answers>(
  deps: AdminDeps,
  endpoint: AdminEndpoint<P, Q, B, R>,
  call: EndpointCall<P, Q, B>,
): Promise<ResponseOf<R>> {
  const admit = (tx: Transaction): Promise<AdmittedRequest | Problem> => admitCall(deps, { endpoint, call, tx });
  const options = { caller: call.caller, milliseconds: deps.milliseconds };
  // Few requests may take long at once, so a caller who is not admitted is refused before the request waits for its turn.
  const first = endpoint.beginsLong === true ? await deps.database.transaction(admit, options) : undefined;
  if (first instanceof Problem) throw first;
  const run = async (isAudited: boolean): Promise<ResponseOf<R> | Problem> => {
    let last: Transaction | undefined;
    const work = async (tx: Transaction): Promise<ResponseOf<R> | Problem> => {
      last = tx;
      const admitted = await admit(tx);
      if (admitted instanceof Problem) return admitted;
      const { request, hasEntry } = createAdminRequest(deps, call, { tx, ...admitted, admitAgain: admit });
      const response = await endpoint.handle(request);
      if (isAudited && !hasEntry() && endpoint.isAudited !== false) appendEntry(tx, toReadEntry(endpoint, request));
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

interface CallToAdmit {
  readonly endpoint: Pick<AdminEndpoint, 'id' | 'auditorAction'>;
  readonly call: Pick<EndpointCall<ObjectSchema, ObjectSchema, Schema>, 'origin' | 'identify'>;
  readonly tx: Transaction;
}

async function admitCall(deps: AdminDeps, { endpoint, call, tx }: CallToAdmit): Promise<AdmittedRequest | Problem> {
  const principal = await call.identify(tx);
  const snapshot = await deps.policyStore.snapshot(tx);
  const info = { origin: call.origin, operation: operationOf(endpoint) };
  const { auditorAction } = endpoint;
  const admitted = await admitCaller(tx, { info, principal, snapshot, auditorAction, timeZone: deps.timeZone });
  return admitted instanceof Problem ? admitted : { ...admitted, snapshot };
}

type AdmittedCall = Pick<AdminRequest, 'tx' | 'admitAgain'> & AdmittedRequest;

/** Creates the request of an admitted caller. `hasEntry` returns true once the handler has written an audit entry. */
function createAdminRequest<P extends ObjectSchema, Q extends ObjectSchema, B extends Schema>(
  deps: AdminDeps,
  { origin, upload, verifyToken, parse }: EndpointCall<P, Q, B>,
  admitted: AdmittedCall,
): { readonly request: AdminRequest<P, Q, B>; hasEntry(): boolean } {
  const { tx, snapshot, admin } = admitted;
  let hasEntry = false;
  const audit = async ({ changeReason, ...change }: AdminChange): Promise<void> => {
    hasEntry = true;
    const facts = { ...(await loadHistoryFacts(tx)), ...(changeReason !== undefined && { changeReason }) };
    appendEntry(tx, toAdminEntry({ origin }, admin, { ...change, facts, now: tx.now, allowed: true, epoch: snapshot.revision.number }));
  };
  return { request: { ...parse(), ...admitted, origin, deps, upload, verifyToken, audit }, hasEntry: () => hasEntry };
}

/** Returns the audit entry of a request that changed nothing. It names the endpoint and the question, not the answer. */
function toReadEntry(endpoint: AdminEndpoint, request: AdminRequest): AuditEntry {
  const { admin, auditor, snapshot, tx, params, query, body } = request;
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
