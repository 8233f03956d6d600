/** Requests to the service: typed by the generated types, with the token of the session, and with an error for each refused request. */
import createClient from 'openapi-fetch';
import type { components, paths } from './generated/endpoints.d.ts';
import { readProblem, toNetworkError } from './problem.ts';
import { accessToken, currentSession, refreshSession } from './session.ts';

/** The schemas of the service, by name. */
export type Schemas = components['schemas'];

/** The client of all endpoints except those of records, whose fields differ in each project. */
export const client = createClient<paths>({ fetch: sendAuthorized });

/** Sends a request with the access token. A refused token is refreshed once, unless another session has begun. @throws RequestError if the service does not answer */
export async function sendAuthorized(request: Request): Promise<Response> {
  const again = request.clone();
  const session = currentSession();
  const response = await send(request);
  if (response.status !== 401 || session !== currentSession()) return response;
  return (await refreshSession()) ? send(again) : response;
}

async function send(request: Request): Promise<Response> {
  const token = await accessToken();
  if (token !== undefined) request.headers.set('authorization', `Bearer ${token}`);
  const wasOnline = navigator.onLine;
  try {
    return await fetch(request, { credentials: 'omit' });
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw toNetworkError(error, wasOnline);
  }
}

interface Fetched<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** Returns the body of a success. @throws RequestError with the problem of a refused request */
export async function bodyOf<Data>(sent: Promise<Fetched<Data>>): Promise<NonNullable<Data>> {
  const { data, error, response } = await sent;
  if (response.ok) return data as NonNullable<Data>;
  throw await readProblem(new Response(JSON.stringify(error), response));
}
