import type { Route } from '../request/index.ts';

/** What the server serves and the bounds it keeps. */
export interface HttpOptions {
  readonly routes: readonly Route[];
  readonly limits: HttpLimits;
  /** Web origins whose pages may call, `localhost` for those of this machine; none turns CORS off. */
  readonly corsOrigins: readonly string[];
  /** Addresses and networks of proxies whose X-Forwarded-For is believed. */
  readonly trustProxy: readonly string[];
  /** Names that Host headers may have beside addresses and `localhost`; undefined allows any. */
  readonly allowedHosts: readonly string[] | undefined;
  readonly logLevel: 'silent' | 'error' | 'warn' | 'info' | 'debug';
  /** Where log lines go; standard output where absent. */
  readonly logStream?: { write(line: string): void };
  /** The pages that describe the service: all, or only the errors that problems point to; none where absent. */
  readonly pages?: 'all' | 'errors';
  /** Whether requests can be served now; `/readyz` says so. */
  ready(): Promise<Readiness> | Readiness;
  /** Told of each answer. */
  readonly watch?: AnswerWatch | undefined;
}

/** Who is told of answers. */
export interface AnswerWatch {
  answered(answer: AnswerFigures): void;
}

/** What a request was and what it took; nothing in it is of the caller's making. */
export interface AnswerFigures {
  readonly method: string;
  /** The route that answered, as `/api/:resource/:id`; undefined where none did. */
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
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
  /** For others to notice that the server is to close, before it refuses connections. */
  readonly drainDelaySeconds: number;
  /** Requests per minute and address; 0 is no limit. */
  readonly rateLimit: number;
}
