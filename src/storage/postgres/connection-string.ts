import type { ConnectionOptions } from 'node:tls';
import { didYouMean, SetupError } from '../../errors.ts';
import { readRegularFile } from '../../files/index.ts';
import type { Log } from '../contract.ts';

/** The address of a database, the user, and the TLS options. */
export interface PostgresAddress {
  /** A host name, an IP address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  /** The schema of our tables; the first schema of the user's search path if undefined. */
  readonly schema: string | undefined;
  readonly ssl: ConnectionOptions | false;
  readonly applicationName: string;
}

/** Options of a connection. Times are milliseconds. */
export interface ServerOptions {
  /** Enables named prepared statements; false behind a pooler that switches connections between transactions. */
  readonly preparedStatements?: boolean;
  /** Statement timeout. */
  readonly statementTimeout?: number;
  /** Lock timeout, for rows, tables and named locks. */
  readonly lockTimeout?: number;
  /** Timeout for opening a connection or getting a free one. */
  readonly connectTimeout?: number;
  /** Maximum parallel workers of a statement, 0 if absent. Unlimited transactions have as many as the server allows. */
  readonly parallelWorkers?: number;
  /** True if the server can check during a statement that the client is still connected. */
  readonly checksClients?: boolean;
}

/** Options of the connections of a database. */
export interface ConnectionPoolOptions extends ServerOptions {
  /** Maximum connections for units of work, 10 if absent; commit batches and long attempts use a few more. */
  readonly connections?: number;
  /** Maximum long attempts at the same time: connections on PostgreSQL, 4 if absent; reader threads on SQLite. */
  readonly readers?: number | undefined;
  /** Maximum long attempts that wait for one of them; 100 if absent. */
  readonly readerQueue?: number | undefined;
  /** IANA name of the time zone in which the process decides. The audit log records it. */
  readonly timeZone?: string | undefined;
  /** Maximum milliseconds of a short attempt; 250 if absent. */
  readonly shortAttempt?: number | undefined;
  /** Returns true if short reads should share connections; by default while processes compete for processors. At other times, more connections can use idle processors of the server. */
  readonly isContended?: (() => boolean) | undefined;
  readonly log?: Log | undefined;
}

/** The supported query parameters of the address. */
const PARAMETERS = ['application_name', 'host', 'schema', 'sslcert', 'sslkey', 'sslmode', 'sslrootcert', 'user'] as const;
const MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;

/**
 * Parses `postgres://user:password@host:5432/database?sslmode=verify-full&schema=app`. `sslmode` means the same as in libpq: `require`
 * encrypts and accepts any certificate, `verify-full` requires one for this host.
 *
 * @throws SetupError with every mistake; the messages never repeat the address, because it may contain a password.
 */
export function parsePostgresUrl(text: string): PostgresAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined)
    throw new SetupError('the address of the database is not a URL: expected postgres://user:password@host:5432/database');
  const given = url.searchParams;
  const mistakes = [...new Set(given.keys())]
    .filter((name) => !PARAMETERS.some((known) => known === name))
    .map((name) => `unknown parameter "${name.slice(0, 40)}"${didYouMean(name, PARAMETERS)}`);
  const mode = given.get('sslmode') ?? 'disable';
  if (!MODES.some((known) => known === mode)) {
    mistakes.push(`sslmode: expected one of ${MODES.join(', ')}, given "${mode.slice(0, 40)}"${didYouMean(mode, MODES)}`);
  }
  const schema = given.get('schema') ?? undefined;
  if (schema !== undefined && !/^[A-Za-z_][A-Za-z0-9_$]{0,62}$/.test(schema))
    mistakes.push('schema: expected a name of letters, digits and _');
  const database = decode(url.pathname.slice(1));
  if (database === '' || database.includes('/')) mistakes.push('expected the name of a database after the host: postgres://host/database');
  const user = decode(url.username) || given.get('user');
  if (!user) mistakes.push('expected the name of a user before the host: postgres://user@host/database');
  if (mistakes.length > 0 || !user) throw new SetupError('the address of the database cannot be used', mistakes);
  return {
    host: (given.get('host') ?? decode(url.hostname).replace(/^\[(.*)\]$/, '$1')) || 'localhost',
    port: url.port === '' ? 5432 : Number(url.port),
    user,
    password: url.password === '' ? undefined : decode(url.password),
    database,
    schema,
    ssl: toTls(mode, { ca: given.get('sslrootcert'), cert: given.get('sslcert'), key: given.get('sslkey') }),
    applicationName: given.get('application_name') ?? 'bailiwick',
  };
}

/** Decodes a part of the address. A password with an unencoded % is a common mistake. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new SetupError('the address of the database cannot be read: expected %25 for each % in it');
  }
}

/** Renders the address without its password, for messages. */
export function toDisplayUrl({ user, host, port, database }: PostgresAddress): string {
  return `postgres://${user}@${host}:${port}/${database}`;
}

type Files = Readonly<Record<'ca' | 'cert' | 'key', string | null>>;

function toTls(mode: string, files: Files): ConnectionOptions | false {
  if (mode === 'disable') return false;
  const read = Object.entries(files).flatMap(([name, path]) => (path === null ? [] : [[name, readFile(path)] as const]));
  return {
    ...Object.fromEntries(read),
    rejectUnauthorized: mode !== 'require',
    ...(mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
  };
}

/** Maximum bytes of a certificate file: the bundles of operating systems have about 250,000. */
const CERTIFICATE_BYTES = 4_000_000;

function readFile(path: string): string {
  try {
    return readRegularFile(path, CERTIFICATE_BYTES).toString('utf8');
  } catch (error) {
    throw new SetupError(`cannot read ${path}, which the address of the database names: ${error instanceof Error ? error.message : error}`);
  }
}
