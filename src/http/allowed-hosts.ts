import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { isLoopback } from '../config/option.ts';
import { Problem } from '../errors.ts';

/** Paths whose Host header is not checked, because health probes use container addresses or names that are not configured. */
const UNCHECKED = new Set(['/healthz', '/readyz']);

/**
 * Refuses requests for other hosts, except probes. This prevents DNS rebinding: a page whose name resolves to this machine could read the
 * responses. Addresses and `localhost` are always allowed, because rebinding needs another name.
 *
 * @param allowed Names, `.example.com` for its subdomains, `*` for any; undefined allows any.
 */
export function refuseOtherHosts(server: FastifyInstance, allowed: readonly string[] | undefined): void {
  if (allowed === undefined || allowed.includes('*')) return;
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  server.addHook('onRequest', (request, _, done) => {
    const { host } = request.raw.headers;
    // HTTP/1.0 clients may omit the Host header; browsers never do.
    if (host === undefined || UNCHECKED.has(request.routeOptions.url ?? '')) return done();
    const name = toHostName(host);
    if (name === undefined || !(isIP(name) !== 0 || isLoopback(name) || isAllowed(names, name))) throw toHostProblem(host);
    done();
  });
}

/** Returns the name in a Host header or the authority of a URL: `[::1]:8787` gives `::1`. Returns undefined if it is invalid. */
export function toHostName(host: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([\da-f:.]+)\]|([^\s:@/\\[\]]+))(?::\d{1,5})?$/i.exec(host) ?? [];
  return (bracketed ?? plain)?.toLowerCase().replace(/\.$/, '');
}

/** Returns true if the list has the name, or a parent domain of the name with a leading dot. */
function isAllowed(names: ReadonlySet<string>, name: string): boolean {
  if (names.has(name)) return true;
  for (let at = name.indexOf('.'); at !== -1; at = name.indexOf('.', at + 1)) if (names.has(name.slice(at))) return true;
  return false;
}

function toHostProblem(host: string): Problem {
  return new Problem('REQUEST_HOST', `this service does not serve the host "${host.slice(0, 100).toWellFormed()}"`);
}
