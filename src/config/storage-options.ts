/** The config options of the group `storage`: the project, its database and its audit log files. Part of `OPTION_TABLE`. */
export const STORAGE_OPTIONS = {
  project: { group: 'storage', default: '.', about: 'project folder; it contains `resources/` with the definition files' },
  data: { group: 'storage', default: '<project>/data', about: 'folder for the SQLite database, generated keys and backups' },
  database: {
    group: 'storage',
    form: 'database',
    default: 'sqlite:<data>/bailiwick.db',
    about: 'database: `sqlite:<path>`, or `postgres://user:password@host:5432/database?sslmode=verify-full&schema=app`',
  },
  createDatabase: {
    group: 'storage',
    values: ['when-new', 'always', 'never'],
    default: 'when-new',
    about:
      'when to create a missing or empty database: `when-new`: unless checkpoints or backups of an earlier one exist; `always`; `never`: refuse to start',
  },
  backupsKept: {
    group: 'storage',
    default: 10,
    range: [0, 1000],
    about: 'number of automatic SQLite backups to keep in `<data>/backups`; 0 disables automatic backups, except the one before a restore',
  },
  checkpoints: {
    group: 'storage',
    default: '<data>/checkpoints.ndjson',
    about: 'file to which signed checkpoints of the audit log are appended; `off` disables checkpoints',
  },
  databaseConnections: {
    group: 'storage',
    default: 10,
    range: [1, 1000],
    about:
      'maximum PostgreSQL connections for requests; three more append audit entries, two send lookups of concurrent requests together, two send short searches of concurrent requests, and `readers` more run long searches',
  },
  databasePrepare: {
    group: 'storage',
    values: ['on', 'off'],
    default: 'on',
    about: 'use named prepared statements on PostgreSQL; turn `off` behind a pooler in transaction mode that does not support them',
  },
  databaseStatementSeconds: {
    group: 'storage',
    default: 30,
    range: [1, 3600],
    about: 'statement timeout on PostgreSQL, in seconds',
  },
  databaseParallelWorkers: {
    group: 'storage',
    default: 0,
    range: [0, 1024],
    about:
      'maximum parallel workers of PostgreSQL for one statement of a request; 0: none, so that one search uses one processor of the database server',
  },
  readers: {
    group: 'storage',
    default: 0,
    range: [0, 64],
    about:
      'number of threads (SQLite) or connections (PostgreSQL) that run long searches beside the other requests; 0: on SQLite one less than the processors, at least 1 and at most 4; on PostgreSQL 4, half of them for one caller',
  },
  readerQueue: {
    group: 'storage',
    default: 100,
    range: [1, 10_000],
    about:
      'maximum long searches that wait for a thread or connection, half of them of one caller; further requests get 503 with `Retry-After`',
  },
  databaseLockSeconds: { group: 'storage', default: 5, range: [1, 600], about: 'lock timeout on PostgreSQL, in seconds' },
  databaseMaxBytes: {
    group: 'storage',
    default: 0,
    range: [0, 1e15],
    about:
      'maximum bytes of a database on PostgreSQL, as `pg_database_size` counts; `diskWarnBytes` and `diskMinBytes` apply to the bytes that are free up to it; 0 disables them',
  },
  diskWarnBytes: {
    group: 'storage',
    default: 1_073_741_824,
    range: [0, 1_000_000_000_000],
    about:
      'free bytes on the disk of a SQLite database, or up to `databaseMaxBytes`, below which a warning is logged; 0 disables the warning',
  },
  diskMinBytes: {
    group: 'storage',
    default: 67_108_864,
    range: [0, 1_000_000_000_000],
    about:
      'free bytes on the disk of a SQLite database, or up to `databaseMaxBytes`, below which `/readyz` fails and requests without a valid token are refused, except logins; 0 disables the check',
  },
  timezone: {
    group: 'storage',
    form: 'timezone',
    default: 'UTC',
    about: 'IANA time zone of `environment.hour`, `.date` and `.dayOfWeek` in conditions',
  },
} as const;
