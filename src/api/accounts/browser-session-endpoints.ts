import { respond } from '../../request/index.ts';
import { Type } from '../../schemas/index.ts';
import { DONE } from '../schema-members.ts';
import { ACCESS, ACCESS_EXAMPLE, type AuthEndpoint, authEndpoint, CREDENTIALS, CREDENTIALS_EXAMPLE, NO_STORE } from './auth-endpoint.ts';

const ACCESS_TOKEN = Type.Object(ACCESS);

const SAME_ORIGIN =
  'Only for pages of this service: the request needs `Sec-Fetch-Site: same-origin`, or an `Origin` with the host of the service. Browsers send these headers.';

/** The endpoints of browser sessions. They alone read the session cookie. */
export const browserSessionEndpoints: readonly AuthEndpoint[] = [
  authEndpoint({
    method: 'POST',
    path: '/auth/session',
    id: 'auth.session.create',
    summary: 'Logs in a browser: sets the session cookie, and returns an access token.',
    description: SAME_ORIGIN,
    caller: 'public',
    body: CREDENTIALS,
    bodyExample: CREDENTIALS_EXAMPLE,
    answers: {
      200: {
        description: 'An access token. The cookie takes the place of a refresh token.',
        schema: ACCESS_TOKEN,
        example: ACCESS_EXAMPLE,
        headers: ['Set-Cookie'],
      },
    },
    problems: [401, 403],
    async handle({ deps: { identity }, request, body }) {
      const { setCookie, ...issued } = await identity.browserSessions.logIn(body, request);
      const headers = { ...NO_STORE, 'set-cookie': setCookie };
      return respond(200, { success: true, message: 'logged in', tokenType: 'Bearer', ...issued }, headers);
    },
  }),
  authEndpoint({
    method: 'POST',
    path: '/auth/session/refresh',
    id: 'auth.session.refresh',
    summary: 'Returns a new access token for the session cookie. The cookie stays valid, so several tabs may use it at the same time.',
    description: SAME_ORIGIN,
    caller: 'public',
    answers: { 200: { description: 'An access token.', schema: ACCESS_TOKEN, example: { ...ACCESS_EXAMPLE, message: 'refreshed' } } },
    problems: [401, 403],
    async handle({ deps: { identity }, request }) {
      const issued = await identity.browserSessions.refresh(request);
      return respond(200, { success: true, message: 'refreshed', tokenType: 'Bearer', ...issued }, NO_STORE);
    },
  }),
  authEndpoint({
    method: 'DELETE',
    path: '/auth/session',
    id: 'auth.session.delete',
    summary: 'Ends the session of the cookie, and deletes the cookie. Without a session, changes nothing.',
    description: SAME_ORIGIN,
    caller: 'public',
    answers: { 200: { description: 'Ended.', schema: DONE, example: { success: true, message: 'logged out' }, headers: ['Set-Cookie'] } },
    problems: [403],
    async handle({ deps: { identity }, request }) {
      const setCookie = await identity.browserSessions.logOut(request);
      const headers = setCookie === undefined ? NO_STORE : { ...NO_STORE, 'set-cookie': setCookie };
      return respond(200, { success: true, message: 'logged out' }, headers);
    },
  }),
];
