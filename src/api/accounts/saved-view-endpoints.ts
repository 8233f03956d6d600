import { Problem } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import {
  envelope,
  type HttpRequest,
  parseIfMatch,
  refuseMistakes,
  respond,
  toETag,
  toSuccess,
  validateIfMatch,
} from '../../request/index.ts';
import { component, Input, Type } from '../../schemas/index.ts';
import { deleteView, savedViewsOf, type Transaction, type ViewKey, versionToChange, writeView } from '../../storage/index.ts';
import type { ApiDeps } from '../records/index.ts';
import { COUNTED, DONE, TEXT, TIMESTAMP } from '../schema-members.ts';
import { type AuthEndpoint, authEndpoint, NO_STORE } from './auth-endpoint.ts';

/** Maximum number of views of a user. */
const MAX_VIEWS = 100;
/** Maximum characters of the state of a view, as JSON. */
const MAX_QUERY = 16_384;
/** Maximum bytes of the body of a request: a character of the state may take six bytes as an escape. */
const VIEW_BYTES = 131_072;

const VIEW = component(
  'api.SavedView',
  Type.Object({
    name: TEXT,
    screen: TEXT,
    query: Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true }),
    version: Type.Integer({ minimum: 1, description: 'Number of the ETag.' }),
    updatedAt: TIMESTAMP,
  }),
);

const EXAMPLE = {
  name: 'Denials at night',
  screen: 'decisions',
  query: { where: { allowed: false }, columns: ['at', 'userId', 'reason'] },
  version: 1,
  updatedAt: '2026-03-02T10:00:00.000Z',
};

/** In the query, because a segment of a path cannot contain a slash. */
const NAME = Input({ name: Type.String({ minLength: 1, maxLength: 100, format: 'line', description: 'Name of the view.' }) });

/** The endpoints of the views that users save for themselves. The state of a view is opaque to the service. */
export const savedViewEndpoints: readonly AuthEndpoint[] = [
  authEndpoint({
    method: 'GET',
    path: '/auth/me/views',
    id: 'auth.me.views.list',
    summary: `Lists the saved views of the current user, by name: at most ${MAX_VIEWS}.`,
    caller: 'bearer',
    answers: {
      200: { description: 'The views.', schema: envelope(Type.Array(VIEW), COUNTED), example: toSuccess([EXAMPLE], { count: 1 }) },
    },
    async handle({ deps, request }) {
      const views = await asUser(deps, request, (tx, userId) => savedViewsOf(tx, userId));
      return respond(200, toSuccess(views, { count: views.length }), NO_STORE);
    },
  }),
  authEndpoint({
    method: 'PUT',
    path: '/auth/me/views',
    id: 'auth.me.views.write',
    summary: 'Saves a view under a name. Replacing a view needs its ETag.',
    caller: 'bearer',
    query: NAME,
    ifMatch: true,
    bodyBytes: VIEW_BYTES,
    body: Input({
      screen: Type.String({ minLength: 1, maxLength: 100, format: 'line', description: 'Name of the screen.' }),
      query: Type.Unsafe<JsonObject>({
        type: 'object',
        additionalProperties: true,
        description: `State of the screen. At most ${MAX_QUERY} characters as JSON.`,
      }),
    }),
    bodyProblem: 'VALUE_INVALID',
    bodyExample: { screen: EXAMPLE.screen, query: EXAMPLE.query },
    answers: {
      200: { description: 'Replaced.', schema: envelope(VIEW), example: toSuccess({ ...EXAMPLE, version: 2 }), headers: ['ETag'] },
      201: { description: 'Created.', schema: envelope(VIEW), example: toSuccess(EXAMPLE), headers: ['ETag'] },
    },
    problems: [412, 428],
    async handle({ deps, request, query, body }) {
      const view = await asUser(deps, request, (tx, userId) => saveView(tx, { userId, name: query.name }, { ...body, request }));
      return respond(view.version === 1 ? 201 : 200, toSuccess(view), { ...NO_STORE, etag: toETag(view.version) });
    },
  }),
  authEndpoint({
    method: 'DELETE',
    path: '/auth/me/views',
    id: 'auth.me.views.delete',
    summary: 'Deletes a saved view.',
    caller: 'bearer',
    query: NAME,
    ifMatch: true,
    answers: { 200: { description: 'Deleted.', schema: DONE, example: { success: true, message: 'deleted the view' } } },
    problems: [404, 412],
    async handle({ deps, request, query }) {
      await asUser(deps, request, async (tx, userId) => {
        const key = { userId, name: query.name };
        const version = await versionToChange(tx, key);
        if (version === undefined) throw new Problem('VIEW_UNKNOWN', 'no saved view has this name');
        validateIfMatch({ ifMatch: parseIfMatch(request.header('if-match')), version, subject: 'view', requirement: 'optional' });
        await deleteView(tx, key);
      });
      return respond(200, { success: true, message: 'deleted the view' });
    },
  }),
];

/** Runs `work` in a transaction with the id of the caller. @throws Problem IDENTITY_REQUIRED, IDENTITY_TOKEN, IDENTITY_TOKEN_EXPIRED */
async function asUser<T>(
  { identity, database }: ApiDeps,
  { origin }: HttpRequest,
  work: (tx: Transaction, userId: string) => Promise<T>,
): Promise<T> {
  const token = await identity.readToken(origin.token);
  return database.transaction(async (tx) => {
    const { id } = await identity.identify(tx, token);
    if (id === undefined) throw new Problem('IDENTITY_REQUIRED', 'expected a bearer token, given none');
    return work(tx, id);
  });
}

interface GivenView {
  readonly screen: string;
  readonly query: JsonObject;
  readonly request: HttpRequest;
}

/**
 * Saves a view. A view that exists is replaced only with its ETag, so that two tabs cannot overwrite each other's view.
 *
 * @throws Problem VALUE_INVALID, RECORD_VERSION, RECORD_VERSION_REQUIRED
 */
async function saveView(tx: Transaction, key: ViewKey, { screen, query, request }: GivenView) {
  const length = JSON.stringify(query).length;
  if (length > MAX_QUERY) refuse('query', 'tooLong', `expected at most ${MAX_QUERY} characters as JSON, given ${length}`);
  const current = await versionToChange(tx, key);
  const requirement = current === undefined ? 'optional' : 'required';
  validateIfMatch({ ifMatch: parseIfMatch(request.header('if-match')), version: current, subject: 'view', requirement });
  if (current === undefined && (await savedViewsOf(tx, key.userId)).length >= MAX_VIEWS)
    refuse('', 'tooMany', `expected at most ${MAX_VIEWS} saved views; delete one first`);
  const view = { screen, query, version: (current ?? 0) + 1, updatedAt: new Date(tx.now).toISOString() };
  await writeView(tx, key, view);
  return { name: key.name, ...view };
}

function refuse(path: string, code: 'tooLong' | 'tooMany', detail: string): void {
  refuseMistakes('VALUE_INVALID', [{ path, code, detail }]);
}
