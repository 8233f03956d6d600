import type { FastifyInstance } from 'fastify';
import { Problem } from '../errors.ts';
import { type EndpointDescription, respond, toProblemResponse } from '../request/index.ts';
import { Type } from '../schemas/index.ts';
import type { Readiness } from './http-options.ts';
import { sendResponse } from './replies.ts';

const STATE = Type.Object({
  success: Type.Unsafe<true>({ const: true }),
  status: Type.String({ description: '`ok` while the process runs, `ready` if decisions can be recorded.' }),
});

/** The endpoints of health checks. Every server has them. */
export const HEALTH_ENDPOINTS: readonly EndpointDescription[] = [
  {
    method: 'GET',
    path: '/healthz',
    id: 'service.health',
    tag: 'Service health',
    summary: 'Returns 200 while the process is running.',
    caller: 'public',
    answers: { 200: { description: 'Alive.', schema: STATE, example: { success: true, status: 'ok' } } },
  },
  {
    method: 'GET',
    path: '/readyz',
    id: 'service.readiness',
    tag: 'Service health',
    summary: 'Returns 200 if decisions can be recorded, 503 otherwise.',
    caller: 'public',
    answers: { 200: { description: 'Ready.', schema: STATE, example: { success: true, status: 'ready' } } },
  },
];

/** Adds `/healthz`, which responds while the process runs, and `/readyz`, which responds with 503 while the service is not ready. */
export function serveHealth(server: FastifyInstance, ready: () => Promise<Readiness> | Readiness): void {
  let wasReady = true;
  server.get('/healthz', (_, reply) => sendResponse(reply, respond(200, { success: true, status: 'ok' })));
  server.get('/readyz', async (request, reply) => {
    const { ok, why } = await ready();
    // Probes come every few seconds, so only changes are logged.
    if (ok !== wasReady) request.log.warn({ why }, ok ? 'ready again' : 'not ready');
    wasReady = ok;
    if (ok) return sendResponse(reply, respond(200, { success: true, status: 'ready' }));
    const problem = new Problem('STORAGE_UNAVAILABLE', why ?? 'requests cannot be served now', { hint: 'the log contains the cause' });
    const { cause: _, ...response } = toProblemResponse(problem, request.id);
    return sendResponse(reply, response);
  });
}
