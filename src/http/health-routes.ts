import type { FastifyInstance } from 'fastify';
import { Problem } from '../errors.ts';
import { toProblemResponse } from '../request/index.ts';
import type { Readiness } from './http-options.ts';
import { sendResponse } from './replies.ts';

/** Adds `/healthz` (the process runs) and `/readyz` (it can serve; 503 where it cannot). */
export function serveHealth(server: FastifyInstance, ready: () => Promise<Readiness> | Readiness): void {
  let wasReady = true;
  server.get('/healthz', (_, reply) => sendResponse(reply, { status: 200, body: { success: true, status: 'ok' } }));
  server.get('/readyz', async (request, reply) => {
    const { ok, why } = await ready();
    // Probes come every few seconds: the log is told of the change, not of each of them.
    if (ok !== wasReady) request.log.warn({ why }, ok ? 'ready again' : 'not ready');
    wasReady = ok;
    if (ok) return sendResponse(reply, { status: 200, body: { success: true, status: 'ready' } });
    const problem = new Problem('STORAGE_UNAVAILABLE', why ?? 'requests cannot be served now', { hint: 'the log has the cause' });
    const { cause: _, ...answer } = toProblemResponse(problem, request.id);
    return sendResponse(reply, answer);
  });
}
