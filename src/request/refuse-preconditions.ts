import type { HttpRequest } from './http-messages.ts';
import { refuseMistakes } from './query-parameters.ts';

/** The headers of preconditions on a version. Those with a date are ignored, because no response has a Last-Modified. */
const PRECONDITIONS = ['If-Match', 'If-None-Match'] as const;
type Precondition = (typeof PRECONDITIONS)[number];

/**
 * Refuses the preconditions that a request does not evaluate, so that no change is made as if its precondition were true (RFC 9110, 13.1).
 *
 * @throws Problem REQUEST_MALFORMED
 */
export function refusePreconditions({ header }: Pick<HttpRequest, 'header'>, evaluated?: Precondition): void {
  const refused = PRECONDITIONS.filter((name) => name !== evaluated && header(name.toLowerCase()) !== undefined);
  const errors = refused.map(
    (path) => ({ path, code: 'unknown', detail: `expected no ${path}, because this request does not evaluate it` }) as const,
  );
  refuseMistakes('REQUEST_MALFORMED', errors);
}
