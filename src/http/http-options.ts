import type { Problem } from '../errors.ts';
import type { Route } from '../request/index.ts';
import type { RequestTracer } from './request-tracing.ts';

/** Options of the HTTP server. */
export interface HttpOptions {
  readonly routes: readonly Route[];
  readonly limits: HttpLimits;
  /** Origins allowed by CORS; `localhost` allows this machine on any port. Empty turns CORS off. */
  readonly corsOrigins: readonly string[];
  /** Addresses and networks of trusted proxies. */
  readonly trustProxy: readonly string[];
  /** Names allowed in Host headers, in addition to addresses and `localhost`; undefined allows any. */
  readonly allowedHosts: readonly string[] | undefined;
  readonly logLevel: 'silent' | 'error' | 'warn' | 'info' | 'debug';
  /** True to log each response. */
  readonly accessLog?: boolean;
  /** Receives log lines; standard output by default. */
  readonly logStream?: { write(line: string): void };
  /** The pages to serve: the API page and the list of errors, or only the list; none by default. */
  readonly pages?: 'all' | 'errors';
  /** The folder of the JSON Schemas for editors, with a `/` at the end; undefined does not serve them. */
  readonly schemaFolder?: URL | undefined;
  /** The folder of the built console, with a `/` at the end; undefined turns the console off. */
  readonly consoleFolder?: URL | undefined;
  /** Returns the readiness, for `/readyz`. */
  ready(): Promise<Readiness> | Readiness;
  /**
   * Called before the response to a refused token, which is not sent before the promise settles. Returns the problem to respond with; if it
   * throws, the response is of that error.
   */
  recordRefusedToken?(problem: Problem, origin: { readonly requestId: string; readonly ip: string }): Promise<Problem>;
  /** Receives the metrics of each response. */
  readonly observer?: ResponseObserver | undefined;
  /** Begins the spans of requests; none by default. */
  readonly tracer?: RequestTracer | undefined;
}

/** Receives the metrics of responses. */
export interface ResponseObserver {
  answered(response: ResponseMetrics): void;
}

/** Metrics of a response. They contain no text chosen by the caller. */
export interface ResponseMetrics {
  readonly method: string;
  /** The route, such as `/api/:resource/:id`; undefined if none matched. */
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
}

/** The readiness; `why` is a sentence for the operator, without secrets. */
export interface Readiness {
  readonly ok: boolean;
  readonly why?: string;
}

/** Limits of the HTTP server. The config options with the same names describe them. */
export interface HttpLimits {
  readonly bodyBytes: number;
  readonly jsonDepth: number;
  readonly requestTimeoutSeconds: number;
  readonly drainSeconds: number;
  /** Seconds in which load balancers can notice the shutdown before the server refuses connections. */
  readonly drainDelaySeconds: number;
  /** Requests per minute and address; 0 disables the limit. */
  readonly rateLimit: number;
}
