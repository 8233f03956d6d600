/** Who may see how the service does, and where: metrics beside the API, or with the probes at an address of their own. */
import { createHttpServer, type HttpLimits, type HttpOptions, type HttpServer } from './http/index.ts';
import type { Exposition, Meters } from './metrics/index.ts';
import type { Route } from './request/index.ts';
import { readListening } from './setting.ts';

/** Where metrics are shown, and to whom; the settings of the same names. */
export interface MonitorSettings {
  readonly metricsAddress: string | undefined;
  readonly metricsToken: string | undefined;
  readonly logLevel: HttpOptions['logLevel'];
  readonly limits: HttpLimits;
}

/** How the service is watched. */
export interface Monitor {
  /** Undefined where nothing is measured, because nobody may see it. */
  readonly meters: Meters | undefined;
  /** What is answered beside the API. */
  readonly routes: readonly Route[];
  /** Listens at the address of its own, where there is one; answers in a sentence where that is. @throws SetupError where it cannot. */
  open(ready: HttpOptions['ready']): Promise<readonly string[]>;
  close(): Promise<void>;
}

const NONE: Monitor = { meters: undefined, routes: [], open: async () => [], close: async () => undefined };

/** Makes the monitor of one service. */
export async function createMonitor(settings: MonitorSettings): Promise<Monitor> {
  const { metricsAddress, metricsToken } = settings;
  if (metricsAddress === undefined && metricsToken === undefined) return NONE;
  // What it takes is not loaded where nobody looks.
  const meters = (await import('./metrics/index.ts')).createMeters();
  const route = await routeOf(meters, metricsToken);
  if (metricsAddress === undefined) return { ...NONE, meters, routes: [route] };
  let apart: HttpServer | undefined;
  return {
    meters,
    routes: [],
    async open(ready) {
      apart = serveApart(settings, { route, ready });
      return [await listenAt(apart, metricsAddress)];
    },
    close: async () => apart?.close(),
  };
}

async function routeOf(exposition: Exposition, token: string | undefined): Promise<Route> {
  return (await import('./metrics/index.ts')).createMetricsRoute(exposition, token);
}

/** Metrics and probes alone. The service behind it takes its time to end; what says how that goes closes last, and at once. */
function serveApart(
  { limits, logLevel }: MonitorSettings,
  { route, ready }: { readonly route: Route } & Pick<HttpOptions, 'ready'>,
): HttpServer {
  return createHttpServer({
    routes: [route],
    limits: { ...limits, drainDelaySeconds: 0 },
    corsOrigins: [],
    trustProxy: [],
    logLevel,
    ready,
  });
}

async function listenAt(server: HttpServer, address: string): Promise<string> {
  const at = readListening(address);
  if (at === undefined) throw new Error('addresses are checked when settings are read');
  return `metrics are at ${(await server.listen(at)).url}/metrics`;
}
