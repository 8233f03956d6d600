import type { FastifyInstance } from 'fastify';
import { Problem } from '../errors.ts';
import type { Readiness } from './options.ts';
import { sendAnswer } from './send.ts';

/** Adds `/healthz` (the process runs) and `/readyz` (it can serve; 503 where it cannot). */
export function serveHealth(server: FastifyInstance, ready: () => Readiness): void {
  server.get('/healthz', (_, reply) => sendAnswer(reply, { status: 200, body: { success: true, status: 'ok' } }));
  server.get('/readyz', (_, reply) => {
    const { ok, why } = ready();
    if (!ok) throw new Problem('STORAGE_UNAVAILABLE', why ?? 'requests cannot be served now', { hint: 'the log has the cause' });
    return sendAnswer(reply, { status: 200, body: { success: true, status: 'ready' } });
  });
}
