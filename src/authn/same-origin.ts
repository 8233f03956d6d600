import type { HttpRequest } from '../request/index.ts';

/**
 * Returns true if a page of this service sent the request. Browsers set both headers, and pages cannot change them. `Sec-Fetch-Site` is
 * sent to HTTPS addresses and to this machine. Without it, the header Origin must name the host of the request; the scheme is unknown behind
 * a proxy. Programs send neither header.
 */
export function isSameOrigin({ header }: Pick<HttpRequest, 'header'>): boolean {
  const site = header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  const [origin, host] = [header('origin'), header('host')?.toLowerCase()];
  return host !== undefined && (origin === `https://${host}` || origin === `http://${host}`);
}
