import { createEntryId } from '../../audit/index.ts';
import { type Answer, type Answers, validateEndpointInput } from '../../request/index.ts';
import type { ObjectSchema, Schema, TypeOf } from '../../schemas/index.ts';
import type { AdminDeps, AdminEndpoint } from './admin-endpoint.ts';
import type { PolicyImportBody } from './admin-parsing.ts';
import { runEndpoint } from './run-endpoint.ts';

/** The input of an admin endpoint from a command, in the name of an admin. */
export interface AdminCommand<Params extends ObjectSchema, Query extends ObjectSchema, Body extends Schema> {
  /** Email of the admin. */
  readonly as: string;
  readonly params?: TypeOf<Params>;
  readonly query?: TypeOf<Query>;
  readonly body?: TypeOf<Body>;
  /** The version that a change replaces: it fails if there is another one by then. */
  readonly version?: number | undefined;
  /** Body of an import. */
  readonly upload?: PolicyImportBody;
}

/** The body of a successful response, as a client reads it. */
type BodyOf<Returns extends Answers> = {
  [Status in keyof Returns]: Returns[Status] extends Answer<infer Body> ? TypeOf<Body> : never;
}[keyof Returns];

/**
 * Runs an admin endpoint for an operator with access to the database, without a token. Returns the body of the response.
 *
 * @throws Problem as the endpoint does
 */
export async function runAsAdmin<P extends ObjectSchema, Q extends ObjectSchema, B extends Schema, R extends Answers>(
  deps: AdminDeps,
  endpoint: AdminEndpoint<P, Q, B, R>,
  { as, upload, version, ...input }: AdminCommand<P, Q, B>,
): Promise<BodyOf<R>> {
  const { body } = await runEndpoint(deps, endpoint, {
    origin: { requestId: createEntryId(), method: '', path: '', ip: '' },
    upload,
    identify: (tx) => deps.identity.identifyByEmail(tx, as),
    // A command has no token that could expire.
    verifyToken: async () => {},
    parse: () => ({ ...validateEndpointInput(endpoint, input), headers: { ifMatch: version === undefined ? undefined : [version] } }),
  });
  // The static type of the body accepts undefined members, which are absent in JSON.
  return body as BodyOf<R>;
}
