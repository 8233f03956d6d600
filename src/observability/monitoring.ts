/** Who may see how the service does, and where: metrics beside the API, or with the probes at an address of their own. */

import { parseListening } from '../config/option.ts';
import { createHttpServer, type HttpLimits, type HttpOptions, type HttpServer } from '../http/index.ts';
import type { Route } from '../request/index.ts';
import type { Exposition, Metrics } from './index.ts';

/** Where metrics are shown, and to whom; the settings of the same names. */
export interface MonitoringOptions {
  readonly metricsAddress: string | undefined;
  readonly metricsToken: string | undefined;
  readonly logLevel: HttpOptions['logLevel'];
  readonly limits: HttpLimits;
  readonly allowedHosts: HttpOptions['allowedHosts'];
}

/** How the service is watched. */
export interface Monitoring {
  /** Undefined where nothing is measured, because nobody may see it. */
  readonly meters: Metrics | undefined;
  /** What is answered beside the API. */
  readonly routes: readonly Route[];
  /** Listens at the address of its own, where there is one; answers in a sentence where that is. @throws SetupError where it cannot. */
  open(ready: HttpOptions['ready']): Promise<readonly string[]>;
  close(): Promise<void>;
}

const NONE: Monitoring = { meters: undefined, routes: [], open: async () => [], close: async () => undefined };

/**
 * Makes the monitor of one service.
 *
 * @param ofAll Where this is one of several processes: metrics of all of them, shown in place of its own. An address of their own is not here.
 */
export async function createMonitoring(settings: MonitoringOptions, ofAll?: Exposition): Promise<Monitoring> {
  const { metricsAddress, metricsToken } = settings;
  if (metricsAddress === undefined && metricsToken === undefined) return NONE;
  // What it takes is not loaded where nobody looks.
  const meters = (await import('./index.ts')).createMetrics();
  const routes = metricsAddress === undefined ? [await routeOf(ofAll ?? meters, metricsToken)] : [];
  if (ofAll !== undefined) return { ...NONE, meters, routes };
  let close = NONE.close;
  return {
    meters,
    routes,
    async open(ready) {
      const opened = await openMonitor(settings, { text: meters.text, ready });
      close = opened.close;
      return opened.notices;
    },
    close: () => close(),
  };
}

/** What is shown at the address of its own. */
export interface Monitored extends Exposition, Pick<HttpOptions, 'ready'> {}

/** Listens at the address of its own, where there is one. @throws SetupError where it cannot. */
export async function openMonitor(
  settings: MonitoringOptions,
  shown: Monitored,
): Promise<{ notices: readonly string[]; close(): Promise<void> }> {
  const { metricsAddress, metricsToken } = settings;
  if (metricsAddress === undefined) return { notices: [], close: NONE.close };
  const server = serveApart(settings, { route: await routeOf(shown, metricsToken), ready: shown.ready });
  return { notices: [await listenAt(server, metricsAddress)], close: () => server.close() };
}

async function routeOf(exposition: Exposition, token: string | undefined): Promise<Route> {
  return (await import('./index.ts')).createMetricsRoute(exposition, token);
}

/** Metrics and probes alone. The service behind it takes its time to end; what says how that goes closes last, and at once. */
function serveApart(
  { limits, logLevel, allowedHosts }: MonitoringOptions,
  { route, ready }: { readonly route: Route } & Pick<HttpOptions, 'ready'>,
): HttpServer {
  return createHttpServer({
    routes: [route],
    limits: { ...limits, drainDelaySeconds: 0 },
    corsOrigins: [],
    trustProxy: [],
    allowedHosts,
    logLevel,
    ready,
  });
}

async function listenAt(server: HttpServer, address: string): Promise<string> {
  const at = parseListening(address);
  if (at === undefined) throw new Error('addresses are checked when settings are read');
  return `metrics are at ${(await server.listen(at)).url}/metrics`;
}
