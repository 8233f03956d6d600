import { Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import { parseJson } from '../strict-json.ts';

/**
 * Parses a JSON body; undefined where it is empty.
 *
 * @throws Problem REQUEST_MALFORMED for a body that is not UTF-8, or that `parseJson` refuses.
 */
export function parseJsonBody(body: Uint8Array, maxDepth: number): Json | undefined {
  return body.byteLength === 0 ? undefined : parseJson(decode(body), { maxDepth, subject: 'the body' });
}

function decode(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    throw new Problem('REQUEST_MALFORMED', 'the body is not valid UTF-8', { cause: error });
  }
}
