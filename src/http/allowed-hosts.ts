import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { isLoopback } from '../config/option.ts';
import { Problem } from '../errors.ts';

/** Probes are sent to the address of a container, or to a name that only the prober knows. */
const UNCHECKED = new Set(['/healthz', '/readyz']);

/**
 * Refuses requests for another host, on every route but the probes: a page whose name was pointed at this machine (DNS rebinding) could
 * read the answers otherwise. Addresses and `localhost` are always allowed, because no page can have them as its name by rebinding.
 *
 * @param allowed Names, `.example.com` for all below it, `*` for any; undefined allows any.
 */
export function checkHosts(server: FastifyInstance, allowed: readonly string[] | undefined): void {
  if (allowed === undefined || allowed.includes('*')) return;
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  server.addHook('onRequest', (request, _, done) => {
    const { host } = request.raw.headers;
    // HTTP/1.0 may omit it; no browser does.
    if (host === undefined || UNCHECKED.has(request.routeOptions.url ?? '')) return done();
    const name = toHostName(host);
    if (name === undefined || !(isIP(name) !== 0 || isLoopback(name) || isAmong(names, name))) throw refused(host);
    done();
  });
}

/** The name in a Host header or the authority of a URL: `[::1]:8787` is `::1`. Undefined where it is no name. */
export function toHostName(host: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([\da-f:.]+)\]|([^\s:@/\\[\]]+))(?::\d{1,5})?$/i.exec(host) ?? [];
  return (bracketed ?? plain)?.toLowerCase().replace(/\.$/, '');
}

/** Every `.` of the name is tried: a name is at most as long as a header. */
function isAmong(names: ReadonlySet<string>, name: string): boolean {
  if (names.has(name)) return true;
  for (let at = name.indexOf('.'); at !== -1; at = name.indexOf('.', at + 1)) if (names.has(name.slice(at))) return true;
  return false;
}

function refused(host: string): Problem {
  return new Problem('REQUEST_HOST', `requests for the host "${host.slice(0, 100).toWellFormed()}" are not answered here`);
}
