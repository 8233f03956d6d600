/** Every setting: its group, form, default, range and description, as the command line and the reference show them. */
export const OPTION_TABLE = {
  project: { group: 'place', default: '.', about: 'folder that holds `resources/`' },
  data: { group: 'place', default: '<project>/data', about: 'folder for the database file and generated keys' },
  database: {
    group: 'place',
    form: 'database',
    default: 'sqlite:<data>/bailiwick.db',
    about: 'where records live: `sqlite:<path>`, or `postgres://user:password@host:5432/database?sslmode=verify-full&schema=app`',
  },
  createDatabase: {
    group: 'place',
    values: ['when-new', 'always', 'never'],
    default: 'when-new',
    about:
      'when a missing or empty database is created: `when-new`: unless checkpoints or backups of an earlier one exist; `always`: also then; `never`: it is refused',
  },
  backupsKept: {
    group: 'place',
    default: 10,
    range: [0, 1000],
    about: 'automatic backups of a SQLite file that stay in `<data>/backups`; 0 makes none',
  },
  checkpoints: {
    group: 'place',
    default: '<data>/checkpoints.ndjson',
    about: 'file outside of the database that signed checkpoints of the record are appended to; `off` makes none',
  },
  databaseConnections: {
    group: 'place',
    default: 10,
    range: [1, 1000],
    about: 'maximum connections to PostgreSQL for requests; two more append audit entries',
  },
  databasePrepare: {
    group: 'place',
    values: ['on', 'off'],
    default: 'on',
    about: 'whether statements are prepared under names; `off` behind a pooler that hands a connection on after each transaction',
  },
  databaseStatementSeconds: { group: 'place', default: 30, range: [1, 3600], about: 'seconds after which PostgreSQL cancels a statement' },
  databaseLockSeconds: { group: 'place', default: 5, range: [1, 600], about: 'seconds that a statement waits for a lock of PostgreSQL' },
  timezone: { group: 'place', form: 'timezone', default: 'UTC', about: 'IANA time zone of `environment.hour`, `.date` and `.dayOfWeek`' },

  host: { group: 'network', default: '127.0.0.1', otherwise: 'HOST', about: 'address to listen on; `0.0.0.0` is every one' },
  port: { group: 'network', default: 8787, otherwise: 'PORT', range: [0, 65_535], about: 'port to listen on; 0 takes a free one' },
  workers: {
    group: 'network',
    default: 1,
    range: [1, 256],
    about: 'processes that share the port; more than one with PostgreSQL alone, where each has its own connections and rate limits',
  },
  trustProxy: { group: 'network', each: 'address', about: 'proxies whose `X-Forwarded-For` is believed: addresses or CIDRs' },
  docs: {
    group: 'network',
    values: ['public', 'admin', 'off'],
    default: 'public',
    about:
      'callers that get `/openapi.json`: `public`: all, each with the resources that they may read or list; `admin`: admins; `off`: none, and `/docs` shows only the errors',
  },
  allowedHosts: {
    group: 'network',
    each: 'host',
    about:
      'host names that are allowed in the `Host` header, beside IP addresses and `localhost`: `api.example.com`, `.example.com` for its subdomains, `*` for all. The default allows all; if `host` is a loopback address and `trustProxy` is empty, it allows none',
  },
  corsOrigins: {
    group: 'network',
    each: 'origin',
    about:
      'web origins whose pages may call the API (CORS); `localhost` allows pages of this machine on any port, as `bailiwick dev` does by default',
  },
  requestTimeoutSeconds: { group: 'network', default: 30, range: [1, 3600], about: 'seconds to receive and answer a request' },
  drainDelaySeconds: {
    group: 'network',
    default: 0,
    range: [0, 600],
    about: 'seconds after SIGTERM in which requests are still accepted while `/readyz` fails, so that load balancers stop sending',
  },
  drainSeconds: { group: 'network', default: 10, range: [0, 600], about: 'seconds to finish requests in flight on shutdown' },
  metricsAddress: {
    group: 'network',
    form: 'listening',
    about:
      'where `/metrics` and the probes are answered apart from the API: `127.0.0.1:9464`; without it and without a token there are no metrics',
  },
  metricsToken: {
    group: 'network',
    form: 'secret',
    about: 'bearer token of at least 32 bytes that `/metrics` asks for; it is answered beside the API where no address of its own is given',
  },
  logLevel: {
    group: 'network',
    values: ['silent', 'error', 'warn', 'info', 'debug'],
    default: 'info',
    about: 'lines of this level and above are logged',
  },

  jwtSecret: { group: 'identity', form: 'secret', about: 'HS256 secret of at least 32 bytes; generated into the data folder where absent' },
  jwtAlgorithm: { group: 'identity', values: ['HS256', 'EdDSA'], default: 'HS256', about: 'the one algorithm tokens are signed with' },
  jwtIssuer: { group: 'identity', default: 'bailiwick', about: '`iss` of our own tokens' },
  jwtAudience: { group: 'identity', default: 'bailiwick', about: '`aud` that a token must have' },
  trustedIssuers: { group: 'identity', each: 'issuer', about: 'other `iss` whose tokens, signed with the same key, are accepted' },
  setup: {
    group: 'identity',
    values: ['token', 'loopback', 'off'],
    default: 'loopback',
    about:
      'callers that may create the first admin: `token`: those with the set-up token that is printed at start; `loopback`: also those on this machine, unless a header indicates a proxy, or `trustProxy` or `allowedHosts` is set; `off`: none',
  },
  accessTokenSeconds: { group: 'identity', default: 3600, range: [30, 86_400], about: 'lifetime of an access token' },
  refreshTokenSeconds: { group: 'identity', default: 2_592_000, range: [60, 31_536_000], about: 'lifetime of a refresh token' },
  loginAttempts: {
    group: 'identity',
    default: 10,
    range: [1, 1_000_000],
    about: 'login attempts per account and address in `loginWindowSeconds`',
  },
  loginAttemptsPerAddress: {
    group: 'identity',
    default: 100,
    range: [1, 1_000_000],
    about: 'login attempts per address in `loginWindowSeconds`',
  },
  loginWindowSeconds: { group: 'identity', default: 900, range: [1, 86_400], about: 'length of the window for login attempts, in seconds' },
  loginAttemptsPerAccount: {
    group: 'identity',
    default: 1000,
    range: [1, 1_000_000],
    about:
      'login attempts per account in `loginAccountWindowSeconds`, over all addresses from which the account has not logged in within 90 days',
  },
  loginAccountWindowSeconds: {
    group: 'identity',
    default: 86_400,
    range: [1, 2_592_000],
    about: 'length of the window for login attempts of an account, in seconds',
  },
  hashConcurrency: { group: 'identity', default: 2, range: [1, 64], about: 'passwords hashed at once, 19 MiB each' },

  auditMode: {
    group: 'record',
    values: ['strict', 'relaxed'],
    default: 'strict',
    about: 'strict: no answer without its entry; relaxed: reads are answered even where their entry cannot be written',
  },
  auditFactsBytes: {
    group: 'record',
    default: 8192,
    range: [0, 1_048_576],
    about: 'bytes kept per audit entry of the values that conditions read',
  },

  decisionsKept: {
    group: 'record',
    form: 'age',
    default: 'off',
    about: 'how long audit entries are kept, such as `90d`; older ones are deleted each day; `off` keeps them until `decisions prune`',
  },

  rateLimit: { group: 'requests', default: 60_000, range: [0, 1e9], about: 'requests per minute and address; 0 is no limit' },
  bodyBytes: { group: 'requests', default: 1_048_576, range: [1024, 1e9], about: 'size of a request body' },
  anonymousBodyBytes: {
    group: 'requests',
    default: 65_536,
    range: [1024, 1e9],
    about: 'maximum size of a request body without a token; for a larger body, the token is verified before the body is read',
  },
  importBytes: { group: 'requests', default: 16_777_216, range: [1024, 1e9], about: 'size of an import body that is one JSON object' },
  importStreamBytes: {
    group: 'requests',
    default: 4_294_967_296,
    range: [1024, 1e13],
    about: 'size of an import body that is read as it comes: NDJSON, CSV, a JSON array',
  },
  importRows: { group: 'requests', default: 5000, range: [1, 1_000_000], about: 'records of an import that is all or nothing' },
  jsonDepth: { group: 'requests', default: 64, range: [4, 500], about: 'nesting of a request body' },
  ifMatch: {
    group: 'requests',
    values: ['optional', 'required'],
    default: 'optional',
    about: '`required`: an update or deletion of a record, policy or assignment without `If-Match` is refused with 428',
  },
  cascadeMax: {
    group: 'requests',
    default: 10_000,
    range: [0, 1_000_000],
    about: 'records deleted or restored because of others, in a request or batch',
  },
  batchItems: { group: 'requests', default: 100, range: [1, 10_000], about: 'requests in a batch' },

  pageDefault: { group: 'lists', default: 50, range: [1, 100_000], about: 'records of a page where `limit` is absent' },
  pageMax: { group: 'lists', default: 1000, range: [1, 100_000], about: 'largest `limit`' },
  exportMax: { group: 'lists', default: 10_000, range: [1, 1_000_000], about: 'largest `limit` of an export' },
  whereItems: { group: 'lists', default: 20, range: [1, 100], about: 'comparisons in a filter' },
  filterListItems: { group: 'lists', default: 1000, range: [1, 100_000], about: 'values of an `in` in a filter' },
  sortKeys: { group: 'lists', default: 5, range: [1, 20], about: 'fields in a sort' },
  expandMax: { group: 'lists', default: 2000, range: [0, 100_000], about: 'records expanded in a request or batch' },
  scanRows: {
    group: 'lists',
    default: 10_000,
    range: [1, 10_000_000],
    about: 'maximum rows per page that are filtered in memory, where a condition cannot be expressed in SQL; the page then ends early',
  },
  scanMilliseconds: {
    group: 'lists',
    default: 200,
    range: [0, 60_000],
    about: 'maximum milliseconds that a request or batch filters rows in memory; the page then ends early, with a warning and `nextCursor`',
  },

  assignmentsCached: {
    group: 'policies',
    default: 300_000,
    range: [1000, 100_000_000],
    about: 'maximum user assignments cached in memory, of the users who made the last requests',
  },
  importPolicies: {
    group: 'policies',
    default: 10_000,
    range: [1, 1_000_000],
    about: 'policies that are imported at once, all or none; and assignments of one of them',
  },
  policyRules: { group: 'policies', default: 1000, range: [1, 100_000], about: 'rules in a policy' },
  conditionDepth: { group: 'policies', default: 16, range: [1, 100], about: 'nesting of a condition' },
  conditionComparisons: { group: 'policies', default: 200, range: [1, 10_000], about: 'comparisons in a rule' },
  conditionListItems: { group: 'policies', default: 10_000, range: [1, 1_000_000], about: 'values in a list of a condition' },
  conditionTextLength: { group: 'policies', default: 10_000, range: [1, 1_000_000], about: 'characters of a text in a condition' },
  expressionLength: { group: 'policies', default: 4096, range: [1, 100_000], about: 'characters of an expression' },
  expressionDepth: { group: 'policies', default: 32, range: [1, 250], about: 'nesting of an expression' },
} as const;
