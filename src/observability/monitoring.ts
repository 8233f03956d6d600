/**
 * The observers of requests, metrics and traces, and the metrics endpoint `GET /metrics`: at an address of its own, with the probes, or beside the
 * API with a token.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { parseListening } from '../config/option.ts';
import { Problem } from '../errors.ts';
import { createHttpServer, type HttpLimits, type HttpOptions, type HttpServer } from '../http/index.ts';
import type { Route } from '../request/index.ts';
import type { Metrics } from './index.ts';

/** Address and access of metrics: the config options of the same names; and the version of the program, for traces. */
export interface MonitoringOptions {
  readonly metricsAddress: string | undefined;
  readonly metricsToken: string | undefined;
  readonly logLevel: HttpOptions['logLevel'];
  readonly limits: HttpLimits;
  readonly allowedHosts: HttpOptions['allowedHosts'];
  /** True to begin a span for each request. */
  readonly isTraced: boolean;
  readonly version?: string | undefined;
}

/** A source of metrics in the text format of Prometheus. */
export interface MetricsText {
  text(): Promise<string>;
}

/** The metrics of a service and the routes and server that expose them. */
export interface Monitoring {
  /** Undefined if neither an address nor a token is configured. Nothing is measured in that case. */
  readonly metrics: Metrics | undefined;
  /** The observers of the requests to the API. */
  readonly observers: Pick<HttpOptions, 'observer' | 'tracer'>;
  /** Routes to serve beside the API. */
  readonly routes: readonly Route[];
  /** Listens at `metricsAddress`, if it is set; returns a sentence that names the address. @throws SetupError if it cannot listen. */
  open(ready: HttpOptions['ready']): Promise<readonly string[]>;
  close(): Promise<void>;
  /** Waits a few seconds at most for the export of the spans so far. Throws if they are not exported. */
  flushSpans(): Promise<void>;
}

const nothing = async (): Promise<void> => undefined;
const NONE: Monitoring = { metrics: undefined, observers: {}, routes: [], open: async () => [], close: nothing, flushSpans: nothing };

/**
 * Creates the monitoring of one service.
 *
 * @param primary In a worker: the metrics of all workers, which are served instead of its own. The primary serves `metricsAddress`.
 */
export async function createMonitoring(options: MonitoringOptions, primary?: MetricsText): Promise<Monitoring> {
  const { metricsAddress, metricsToken, isTraced, version } = options;
  const tracer = isTraced ? (await import('./tracing.ts')).createTracer(version) : undefined;
  const flushSpans = async (): Promise<void> => tracer?.flush();
  if (metricsAddress === undefined && metricsToken === undefined) return { ...NONE, observers: { tracer }, flushSpans };
  // Imported here, so that prom-client is not loaded if metrics are off.
  const metrics = (await import('./index.ts')).createMetrics();
  const routes = metricsAddress === undefined ? [createMetricsRoute(primary ?? metrics, metricsToken)] : [];
  const observers = { observer: metrics, tracer };
  if (primary !== undefined) return { ...NONE, metrics, observers, routes, flushSpans };
  let close = NONE.close;
  return {
    metrics,
    observers,
    routes,
    flushSpans,
    async open(ready) {
      const opened = await openMonitoringServer(options, { text: metrics.text, ready });
      close = opened.close;
      return opened.notices;
    },
    close: () => close(),
  };
}

/** The sources of the responses at `metricsAddress`: metrics and readiness. */
export interface MonitoringSource extends MetricsText, Pick<HttpOptions, 'ready'> {}

/** Listens at `metricsAddress`, if it is set. @throws SetupError if it cannot listen. */
export async function openMonitoringServer(
  options: MonitoringOptions,
  source: MonitoringSource,
): Promise<{ notices: readonly string[]; close(): Promise<void> }> {
  const { metricsAddress, metricsToken } = options;
  if (metricsAddress === undefined) return { notices: [], close: NONE.close };
  const server = createMonitoringServer(options, { route: createMetricsRoute(source, metricsToken), ready: source.ready });
  return { notices: [await listenAt(server, metricsAddress)], close: () => server.close() };
}

/** Creates a server for metrics and probes. It closes after the API server and without a delay, so that the shutdown can be observed. */
function createMonitoringServer(
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
  if (at === undefined) throw new Error('metricsAddress must be validated when the config is parsed');
  return `metrics are at ${(await server.listen(at)).url}/metrics`;
}

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Creates the route `GET /metrics`.
 *
 * @param token The required bearer token; undefined if none is required.
 */
function createMetricsRoute(source: MetricsText, token: string | undefined): Route {
  const expected = token === undefined ? undefined : digest(token);
  return {
    method: 'GET',
    path: '/metrics',
    async handle({ origin }) {
      if (expected !== undefined) validateToken(expected, origin.token);
      const text = await source.text();
      return { status: 200, body: undefined, pieces: toPieces(text), contentType: CONTENT_TYPE };
    },
  };
}

function validateToken(expected: Buffer, given: string | undefined): void {
  const hint = 'send the token of BAILIWICK_METRICS_TOKEN';
  if (given === undefined) throw new Problem('IDENTITY_REQUIRED', 'expected the bearer token of metrics, given none', { hint });
  if (!timingSafeEqual(expected, digest(given))) throw new Problem('IDENTITY_TOKEN', 'this is not the token of metrics', { hint });
}

/** Hashes a token, because a comparison in constant time requires equal lengths. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

async function* toPieces(text: string): AsyncGenerator<string> {
  yield text;
}
