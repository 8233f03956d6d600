import { envelope, respond, toSuccess } from '../../request/index.ts';
import { Input, Type } from '../../schemas/index.ts';
import { DONE, MESSAGE, name, PAGED } from '../schema-members.ts';
import { type AuthEndpoint, authEndpoint, NO_STORE } from './auth-endpoint.ts';
import { ENDED, SESSION_EXAMPLE, SESSION_MEMBERS, SESSION_QUERY } from './session-schemas.ts';

const OWN_SESSION = Type.Object({
  ...SESSION_MEMBERS,
  isCurrent: Type.Boolean({ description: 'True for the session of the token of this request.' }),
});

/** The endpoints with which users see and end their own sessions. */
export const ownSessionEndpoints: readonly AuthEndpoint[] = [
  authEndpoint({
    method: 'GET',
    path: '/auth/me/sessions',
    id: 'auth.me.sessions.list',
    summary: 'Lists the open sessions of the current user, the newest first.',
    caller: 'bearer',
    query: SESSION_QUERY,
    problems: [403],
    answers: {
      200: {
        description: 'The sessions.',
        schema: envelope(Type.Array(OWN_SESSION), PAGED),
        example: toSuccess([{ ...SESSION_EXAMPLE, isCurrent: true }], { count: 1 }),
      },
    },
    async handle({ deps: { identity }, request, query }) {
      const { sessions, current, ...next } = await identity.ownSessions.list(request.origin, query);
      const shown = sessions.map((session) => ({ ...session, isCurrent: session.id === current }));
      return respond(200, toSuccess(shown, { count: shown.length, ...next }), NO_STORE);
    },
  }),
  authEndpoint({
    method: 'DELETE',
    path: '/auth/me/sessions',
    id: 'auth.me.sessions.deleteOthers',
    summary: 'Ends every session of the current user but that of the token.',
    caller: 'bearer',
    problems: [403],
    answers: {
      200: {
        description: 'Ended.',
        schema: envelope(ENDED, MESSAGE),
        example: toSuccess({ ended: 2 }, { message: 'ended 2 other sessions' }),
      },
    },
    async handle({ deps: { identity }, request }) {
      const ended = await identity.ownSessions.endOthers(request.origin);
      return respond(200, toSuccess({ ended }, { message: `ended ${ended} other sessions` }));
    },
  }),
  authEndpoint({
    method: 'DELETE',
    path: '/auth/me/sessions/:id',
    id: 'auth.me.sessions.delete',
    summary: 'Ends a session of the current user. Its tokens and its cookie are no longer valid.',
    caller: 'bearer',
    params: Input({ id: name('Id of the session.') }),
    answers: { 200: { description: 'Ended.', schema: DONE, example: { success: true, message: 'ended the session' } } },
    problems: [403, 404],
    async handle({ deps: { identity }, request, params }) {
      await identity.ownSessions.end(request.origin, params.id);
      return respond(200, { success: true, message: 'ended the session' });
    },
  }),
];
