import { createHash, timingSafeEqual } from 'node:crypto';
import { Problem } from '../errors.ts';
import type { Route } from '../request/index.ts';

/** Where metrics come from, in the text format of Prometheus. */
export interface Exposition {
  text(): Promise<string>;
}

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * `GET /metrics`.
 *
 * @param token What has to be sent as bearer token; nothing has to where it is absent.
 */
export function createMetricsRoute(exposition: Exposition, token: string | undefined): Route {
  const expected = token === undefined ? undefined : digest(token);
  return {
    method: 'GET',
    path: '/metrics',
    async handle({ origin }) {
      if (expected !== undefined) checkToken(expected, origin.token);
      const text = await exposition.text();
      return { status: 200, body: undefined, pieces: whole(text), contentType: CONTENT_TYPE };
    },
  };
}

function checkToken(expected: Buffer, given: string | undefined): void {
  const hint = 'send the token of BAILIWICK_METRICS_TOKEN';
  if (given === undefined) throw new Problem('IDENTITY_REQUIRED', 'expected the bearer token of metrics, given none', { hint });
  if (!timingSafeEqual(expected, digest(given))) throw new Problem('IDENTITY_TOKEN', 'this is not the token of metrics', { hint });
}

/** Of one length whatever was given, so that the time to compare tells nothing. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

async function* whole(text: string): AsyncGenerator<string> {
  yield text;
}
