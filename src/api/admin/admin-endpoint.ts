import type { ADMIN_CHANGE_RESOURCES } from '../../audit/index.ts';
import type { Checkpoints } from '../../audit/integrity/index.ts';
import type { Authentication } from '../../authn/index.ts';
import type { PolicyStore, Snapshot } from '../../authz/index.ts';
import type { PolicyLimits } from '../../authz/policies/index.ts';
import type { Problem } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Answers, EndpointDescription, EndpointInput, IfMatch, NO_MEMBERS, RequestOrigin, ResponseOf } from '../../request/index.ts';
import type { Definitions } from '../../resources/index.ts';
import type { ObjectSchema, Schema, TypeOf } from '../../schemas/index.ts';
import type { Database, Transaction } from '../../storage/index.ts';
import type { Format } from '../../transfer/formats/index.ts';
import type { AdmittedRequest, AuditAction, Auditor, KnownPrincipal } from '../admission/index.ts';
import type { DecisionStreams } from '../streams/index.ts';
import type { PolicyImportBody, PolicyImportLimits } from './admin-parsing.ts';
import type { SystemSource } from './system-status.ts';

/** Dependencies and configuration of the admin endpoints. */
export interface AdminDeps extends PolicyImportLimits {
  readonly database: Database;
  readonly identity: Authentication;
  readonly policyStore: PolicyStore;
  readonly limits: PolicyLimits;
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

/** The validated input of an admin endpoint. */
export interface AdminInput<
  Params extends ObjectSchema = ObjectSchema,
  Query extends ObjectSchema = ObjectSchema,
  Body extends Schema = Schema,
> extends EndpointInput<Params, Query, Body> {
  readonly headers: AdminHeaders;
}

/** The headers of a request that endpoints read. A command has only `ifMatch`. */
export interface AdminHeaders {
  /** The versions that a change may replace. */
  readonly ifMatch?: IfMatch;
  readonly ifNoneMatch?: string | undefined;
  /** The event after which the client continues a stream. */
  readonly lastEventId?: string | undefined;
  /** The file formats that the client accepts, the preferred one first. */
  readonly accepted?: readonly Format[];
}

/** A request of an admin, with its transaction. */
export interface AdminRequest<
  Params extends ObjectSchema = ObjectSchema,
  Query extends ObjectSchema = ObjectSchema,
  Body extends Schema = Schema,
> extends AdminInput<Params, Query, Body> {
  readonly origin: RequestOrigin;
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
>({
  path,
  id,
  problems = [],
  ...endpoint
}: Omit<AdminEndpoint<Params, Query, Body, Returns>, 'caller'>): AdminEndpoint<Params, Query, Body, Returns> {
  return { ...endpoint, path: `/admin/api${path}`, id: `admin.${id}`, caller: 'bearer', problems: [403, ...problems] };
}

/** Returns the name of the endpoint in audit entries of reads and denials. */
export function operationOf({ id }: Pick<AdminEndpoint, 'id'>): string {
  return id.replace(/^admin\./, '');
}
