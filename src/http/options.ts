import type { Route } from '../request/index.ts';
import type { Docs } from './docs.ts';

/** What the server serves and the bounds it keeps. */
export interface HttpOptions {
  readonly routes: readonly Route[];
  readonly limits: HttpLimits;
  /** Web origins whose pages may call; none turns CORS off. */
  readonly corsOrigins: readonly string[];
  /** Addresses and networks of proxies whose X-Forwarded-For is believed. */
  readonly trustProxy: readonly string[];
  readonly logLevel: 'silent' | 'error' | 'warn' | 'info' | 'debug';
  /** Where log lines go; standard output where absent. */
  readonly logStream?: { write(line: string): void };
  readonly docs: Docs;
  /** Whether requests can be served now; `/readyz` says so. */
  ready(): Readiness;
}

/** `why` is for an operator: a sentence without secrets. */
export interface Readiness {
  readonly ok: boolean;
  readonly why?: string;
}

/** Bounds; the settings of the same names. */
export interface HttpLimits {
  readonly bodyBytes: number;
  readonly jsonDepth: number;
  readonly requestTimeoutSeconds: number;
  readonly drainSeconds: number;
  /** Requests per minute and address; 0 is no limit. */
  readonly rateLimit: number;
}
