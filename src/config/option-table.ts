import { REQUEST_OPTIONS } from './request-options.ts';
import { STORAGE_OPTIONS } from './storage-options.ts';

/** Every config option: its group, form, default, range and description. The CLI help and the reference are generated from this table. */
export const OPTION_TABLE = {
  ...STORAGE_OPTIONS,

  host: { group: 'network', default: '127.0.0.1', otherwise: 'HOST', about: 'address to listen on; `0.0.0.0` listens on all addresses' },
  port: { group: 'network', default: 8787, otherwise: 'PORT', range: [0, 65_535], about: 'port to listen on; 0 selects a free port' },
  workers: {
    group: 'network',
    default: 1,
    range: [1, 256],
    about:
      'number of worker processes that share the port and the database; limits of connections, reader threads and rates apply to each worker',
  },
  trustProxy: {
    group: 'network',
    each: 'address',
    about: 'addresses or CIDRs of trusted reverse proxies; their `X-Forwarded-For` header sets the client address',
  },
  docs: {
    group: 'network',
    values: ['public', 'admin', 'off'],
    default: 'public',
    about:
      'callers that can read `/openapi.json`: `public`: all, each with the resources that they may read or list; `admin`: admins; `off`: none, and `/docs` lists only the error codes',
  },
  console: {
    group: 'network',
    values: ['on', 'off'],
    default: 'on',
    about: '`on`: serve the console, an admin page for browsers, at `/console/`, and redirect browsers from `/` to it; `off`: do not',
  },
  allowedHosts: {
    group: 'network',
    each: 'host',
    about:
      'host names accepted in the `Host` header, in addition to IP addresses and `localhost`: `api.example.com`, `.example.com` for its subdomains, `*` for all; the default accepts all names, but none if `host` is a loopback address and `trustProxy` is empty',
  },
  corsOrigins: {
    group: 'network',
    each: 'origin',
    about:
      'origins allowed by CORS; `localhost` allows every port of this machine; `bailiwick dev` allows `localhost` unless origins are set',
  },
  requestTimeoutSeconds: {
    group: 'network',
    default: 30,
    range: [1, 3600],
    about: 'request timeout: maximum seconds to receive and answer a request',
  },
  drainDelaySeconds: {
    group: 'network',
    default: 0,
    range: [0, 600],
    about:
      'seconds after SIGTERM during which `/readyz` fails but requests are still accepted, so that load balancers stop sending requests',
  },
  drainSeconds: {
    group: 'network',
    default: 10,
    range: [0, 600],
    about: 'maximum seconds to finish requests in flight on shutdown',
  },
  metricsAddress: {
    group: 'network',
    form: 'listening',
    about:
      'separate address for `/metrics`, `/healthz` and `/readyz`, such as `127.0.0.1:9464`; metrics are off unless this or `metricsToken` is set',
  },
  metricsToken: {
    group: 'network',
    form: 'secret',
    about:
      'bearer token of at least 32 bytes that `/metrics` requires; without `metricsAddress`, `/metrics` is served on the address of the API',
  },
  logLevel: {
    group: 'network',
    values: ['silent', 'error', 'warn', 'info', 'debug'],
    default: 'info',
    about: 'minimum level of log lines',
  },
  accessLog: {
    group: 'network',
    values: ['off', 'on'],
    default: 'off',
    about: 'log a line at level info for each response: method, path, status, milliseconds, client address, bytes and decision id',
  },
  tracing: {
    group: 'network',
    values: ['off', 'on'],
    default: 'off',
    about: 'begin an OpenTelemetry span for each request; needs the package `@opentelemetry/api` and an SDK that exports the spans',
  },

  jwtSecret: {
    group: 'authentication',
    form: 'secret',
    about: 'HS256 secret of at least 32 bytes; by default, one is generated in the data folder',
  },
  jwtAlgorithm: { group: 'authentication', values: ['HS256', 'EdDSA'], default: 'HS256', about: 'algorithm that tokens are signed with' },
  jwtIssuer: { group: 'authentication', default: 'bailiwick', about: '`iss` claim of tokens issued by this service' },
  jwtAudience: { group: 'authentication', default: 'bailiwick', about: '`aud` claim that a token must have' },
  trustedIssuers: {
    group: 'authentication',
    each: 'issuer',
    about: 'other accepted values of `iss`; their tokens must be signed with the same key',
  },
  setup: {
    group: 'authentication',
    values: ['token', 'loopback', 'off'],
    default: 'loopback',
    about:
      'callers that can create the first admin: `token`: those with the setup token printed at start; `loopback`: also those on this machine, unless a header indicates a proxy, or `trustProxy` or `allowedHosts` is set; `off`: none',
  },
  accessTokenSeconds: { group: 'authentication', default: 3600, range: [30, 86_400], about: 'lifetime of access tokens, in seconds' },
  refreshTokenSeconds: {
    group: 'authentication',
    default: 2_592_000,
    range: [60, 31_536_000],
    about: 'lifetime of refresh tokens, in seconds',
  },
  sessionIdleSeconds: {
    group: 'authentication',
    default: 28_800,
    range: [1, 31_536_000],
    about: 'idle timeout of browser sessions, in seconds since the login or the last refresh',
  },
  sessionMaxSeconds: {
    group: 'authentication',
    default: 604_800,
    range: [1, 31_536_000],
    about: 'maximum length of browser sessions, in seconds since the login',
  },
  loginAttempts: {
    group: 'authentication',
    default: 10,
    range: [1, 1_000_000],
    about: 'maximum login attempts per account and address within `loginWindowSeconds`',
  },
  loginAttemptsPerAddress: {
    group: 'authentication',
    default: 100,
    range: [1, 1_000_000],
    about: 'maximum login attempts per address within `loginWindowSeconds`',
  },
  loginWindowSeconds: {
    group: 'authentication',
    default: 900,
    range: [1, 86_400],
    about: 'window in which login attempts are counted per address, in seconds',
  },
  loginAttemptsPerAccount: {
    group: 'authentication',
    default: 1000,
    range: [1, 1_000_000],
    about:
      'maximum login attempts per account within `loginAccountWindowSeconds`; addresses from which the account has logged in within 90 days are exempt',
  },
  loginAccountWindowSeconds: {
    group: 'authentication',
    default: 86_400,
    range: [1, 2_592_000],
    about: 'window in which login attempts are counted per account, in seconds',
  },
  hashConcurrency: {
    group: 'authentication',
    default: 2,
    range: [1, 64],
    about: 'maximum passwords hashed at the same time; each takes 19 MiB of memory',
  },

  auditMode: {
    group: 'audit',
    values: ['strict', 'relaxed'],
    default: 'strict',
    about: '`strict`: respond only after the audit entry is stored; `relaxed`: respond to reads even if their audit entry cannot be stored',
  },
  auditFactsBytes: {
    group: 'audit',
    default: 8192,
    range: [0, 1_048_576],
    about: 'maximum bytes of condition values stored per audit entry',
  },
  denialWindowSeconds: {
    group: 'audit',
    default: 60,
    range: [0, 3600],
    about:
      'seconds in which repeated denials of callers without a token are counted instead of stored as audit entries; 0 stores an entry for each',
  },
  decisionsKept: {
    group: 'audit',
    form: 'age',
    default: 'off',
    about: 'retention of audit entries, such as `90d`; older entries are deleted daily; `off` keeps them until `bailiwick decisions prune`',
  },

  ...REQUEST_OPTIONS,
} as const;
