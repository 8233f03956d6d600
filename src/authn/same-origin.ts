import { isLoopback } from '../config/option.ts';
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

/**
 * Returns true if the page was loaded over plain HTTP from another machine. Browsers then store no `Secure` cookie and send no
 * `Sec-Fetch-Site`. A proxy that terminates TLS does not change the `https` in Origin.
 */
export function isPlainHttpPage({ header }: Pick<HttpRequest, 'header'>): boolean {
  const origin = header('origin') ?? '';
  if (header('sec-fetch-site') !== undefined || !origin.startsWith('http:') || !URL.canParse(origin)) return false;
  return !isLoopback(new URL(origin).hostname.replace(/^\[|\]$/g, ''));
}
