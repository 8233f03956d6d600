import type { ConnectionOptions } from 'node:tls';
import { didYouMean, SetupError } from '../../errors.ts';
import { readRegularFile } from '../../files/index.ts';

/** Where a database is, who we are there, and how the way to it is secured. */
export interface PostgresAddress {
  /** A name, an address, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  /** The schema our tables are in; the one that the user's own settings lead to where absent. */
  readonly schema: string | undefined;
  readonly ssl: ConnectionOptions | false;
  readonly applicationName: string;
}

/** How a server is spoken to. Times are milliseconds. */
export interface ServerOptions {
  /** Whether statements are prepared under names. Not where a pooler changes connections between transactions and knows none. */
  readonly preparedStatements?: boolean;
  /** For a statement to be done. */
  readonly statementTimeout?: number;
  /** For a row, a table or a name that another transaction holds to be let go. */
  readonly lockTimeout?: number;
  /** For a connection to be there. */
  readonly connectTimeout?: number;
  /** Whether the server can look, while it works, whether we are still there. */
  readonly checksClients?: boolean;
}

/** What may stand behind the `?`. */
const PARAMETERS = ['application_name', 'host', 'schema', 'sslcert', 'sslkey', 'sslmode', 'sslrootcert', 'user'] as const;
const MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;

/**
 * Reads `postgres://user:password@host:5432/database?sslmode=verify-full&schema=app`. What TLS means is what libpq means by it:
 * `require` encrypts and believes whoever answers, `verify-full` asks for a certificate of that very host.
 *
 * @throws SetupError with every mistake; none of them repeats the address, for it may hold a password.
 */
export function parsePostgresUrl(text: string): PostgresAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new SetupError('the address of the database is none: expected postgres://user:password@host:5432/database');
  const given = url.searchParams;
  const mistakes = [...new Set(given.keys())]
    .filter((name) => !PARAMETERS.some((known) => known === name))
    .map((name) => `no parameter is named "${name.slice(0, 40)}"${didYouMean(name, PARAMETERS)}`);
  const mode = given.get('sslmode') ?? 'disable';
  if (!MODES.some((known) => known === mode)) {
    mistakes.push(`sslmode: expected one of ${MODES.join(', ')}, given "${mode.slice(0, 40)}"${didYouMean(mode, MODES)}`);
  }
  const schema = given.get('schema') ?? undefined;
  if (schema !== undefined && !/^[A-Za-z_][A-Za-z0-9_$]{0,62}$/.test(schema))
    mistakes.push('schema: expected a name of letters, digits and _');
  const database = decode(url.pathname.slice(1));
  if (database === '' || database.includes('/')) mistakes.push('expected the name of a database behind the host: postgres://host/database');
  const user = decode(url.username) || given.get('user');
  if (!user) mistakes.push('expected the name of a user in front of the host: postgres://user@host/database');
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

/** Passwords have such signs, and whoever writes one as it is has to be told. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new SetupError('the address of the database cannot be read: expected %25 for each % in it');
  }
}

/** The address without its password: for people. */
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
