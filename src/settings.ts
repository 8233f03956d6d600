/**
 * Every setting, in one table. A flag goes before the environment, the environment before the default.
 * No other part reads the environment: each is handed what it needs of `Settings`.
 */
import { didYouMean, SetupError } from './errors.ts';
import { type GivenSetting, readSetting, type SettingRow } from './setting.ts';

const PREFIX = 'BAILIWICK_';

const table = {
  project: { group: 'place', default: '.', about: 'folder that holds `resources/`' },
  data: { group: 'place', default: '<project>/data', about: 'folder for the database file and generated keys' },
  database: {
    group: 'place',
    form: 'database',
    default: 'sqlite:<data>/bailiwick.db',
    about: 'where records live: `sqlite:<path>`, or `postgres://user:password@host:5432/database?sslmode=verify-full&schema=app`',
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
    about: 'connections to a PostgreSQL server at most, and two that append',
  },
  databasePrepare: {
    group: 'place',
    values: ['on', 'off'],
    default: 'on',
    about: 'whether statements are prepared under names; `off` behind a pooler that hands a connection on after each transaction',
  },
  databaseStatementSeconds: { group: 'place', default: 30, range: [1, 3600], about: 'for a statement to be done by a PostgreSQL server' },
  databaseLockSeconds: { group: 'place', default: 5, range: [1, 600], about: 'for others to let go of what a statement needs there' },
  timezone: { group: 'place', form: 'timezone', default: 'UTC', about: 'IANA time zone of `environment.hour`, `.date` and `.dayOfWeek`' },

  host: { group: 'network', default: '127.0.0.1', about: 'address to listen on; `0.0.0.0` is every one' },
  port: { group: 'network', default: 8787, range: [0, 65_535], about: 'port to listen on; 0 takes a free one' },
  workers: {
    group: 'network',
    default: 1,
    range: [1, 256],
    about: 'processes that share the port; more than one with PostgreSQL alone, where each has its own connections and rate limits',
  },
  trustProxy: { group: 'network', each: 'address', about: 'proxies whose `X-Forwarded-For` is believed: addresses or CIDRs' },
  corsOrigins: { group: 'network', each: 'origin', about: 'web origins whose pages may call the API' },
  requestTimeoutSeconds: { group: 'network', default: 30, range: [1, 3600], about: 'for a request to arrive and be answered' },
  drainDelaySeconds: {
    group: 'network',
    default: 0,
    range: [0, 600],
    about: 'after SIGTERM, while `/readyz` says no already, in which requests are still taken: for balancers to notice',
  },
  drainSeconds: { group: 'network', default: 10, range: [0, 600], about: 'for requests in flight to end then' },
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
    about: 'least severe line that is logged',
  },

  jwtSecret: { group: 'identity', form: 'secret', about: 'HS256 secret of at least 32 bytes; generated into the data folder where absent' },
  jwtAlgorithm: { group: 'identity', values: ['HS256', 'EdDSA'], default: 'HS256', about: 'the one algorithm tokens are signed with' },
  jwtIssuer: { group: 'identity', default: 'bailiwick', about: '`iss` of our own tokens' },
  jwtAudience: { group: 'identity', default: 'bailiwick', about: '`aud` that a token must have' },
  trustedIssuers: { group: 'identity', each: 'text', about: 'other `iss` whose tokens, signed with the same key, are accepted' },
  accessTokenSeconds: { group: 'identity', default: 3600, range: [30, 86_400], about: 'lifetime of an access token' },
  refreshTokenSeconds: { group: 'identity', default: 2_592_000, range: [60, 31_536_000], about: 'lifetime of a refresh token' },
  loginAttempts: { group: 'identity', default: 10, range: [1, 1_000_000], about: 'logins tried per account and window' },
  loginAttemptsPerAddress: { group: 'identity', default: 100, range: [1, 1_000_000], about: 'logins tried per address and window' },
  loginWindowSeconds: { group: 'identity', default: 900, range: [1, 86_400], about: 'length of that window' },
  hashConcurrency: { group: 'identity', default: 2, range: [1, 64], about: 'passwords hashed at once, 19 MiB each' },

  auditMode: {
    group: 'record',
    values: ['strict', 'relaxed'],
    default: 'strict',
    about: 'strict: no answer without its entry; relaxed: reads are answered even where their entry cannot be written',
  },
  auditFactsBytes: { group: 'record', default: 8192, range: [0, 1_048_576], about: 'kept per entry of the values that conditions read' },

  decisionsKept: {
    group: 'record',
    form: 'age',
    default: 'off',
    about: 'for how long entries are kept at least, such as `90d`; older ones are pruned each day. `off`: until somebody prunes them',
  },

  rateLimit: { group: 'requests', default: 60_000, range: [0, 1e9], about: 'requests per minute and address; 0 is no limit' },
  bodyBytes: { group: 'requests', default: 1_048_576, range: [1024, 1e9], about: 'size of a request body' },
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
    about: 'whether an update or deletion has to name the version it changes',
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
  scanRows: { group: 'lists', default: 10_000, range: [1, 10_000_000], about: 'rows read per request for what SQL cannot say' },

  assignmentsCached: {
    group: 'policies',
    default: 300_000,
    range: [1000, 100_000_000],
    about: 'users, and policies assigned to them, that are kept in memory: of those who asked last',
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

/** The name of a setting, as in `Settings`. */
export type SettingName = keyof typeof table;

type ValueOf<R> = R extends { readonly range: unknown }
  ? number
  : R extends { readonly each: unknown }
    ? readonly string[]
    : R extends { readonly values: readonly (infer V)[] }
      ? V
      : R extends { readonly default: string }
        ? string
        : string | undefined;

/** The value of every setting, checked. Frozen. */
export type Settings = { readonly [N in SettingName]: ValueOf<(typeof table)[N]> };

/** One setting with its names, as the command line and the reference show it. */
export interface Setting extends SettingRow {
  readonly name: SettingName;
  /** `--access-token-seconds`; undefined for a secret. */
  readonly flag: string | undefined;
  /** `BAILIWICK_ACCESS_TOKEN_SECONDS` */
  readonly env: string;
}

/** Every setting by name, in the order of the reference. */
export const SETTINGS: ReadonlyMap<string, Setting> = new Map((Object.keys(table) as SettingName[]).map((name) => [name, toSetting(name)]));

/** The groups that settings are shown in, with their titles. */
export const SETTING_GROUPS: ReadonlyMap<string, string> = new Map([
  ['place', 'Where things are'],
  ['network', 'Listening'],
  ['identity', 'Who asks'],
  ['record', 'The record'],
  ['requests', 'Bounds on requests'],
  ['lists', 'Bounds on lists'],
  ['policies', 'Bounds on policies'],
]);

/** Where settings come from: flags by setting name, then the environment. */
export interface SettingSources {
  readonly flags?: { readonly [N in SettingName]?: GivenSetting | undefined };
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads every setting: flag, then environment (empty counts as absent), then default.
 *
 * @throws SetupError naming every setting that cannot be used.
 */
export function readSettings(sources: SettingSources): Settings {
  const mistakes = [...unknownNames(sources)];
  const values = new Map<string, string | number | readonly string[] | undefined>();
  for (const setting of SETTINGS.values()) {
    const { source, given } = findGiven(setting, sources) ?? { source: setting.name, given: defaultOf(setting, values) };
    if (given === undefined) continue;
    const read = readSetting(setting, given);
    if ('mistake' in read) mistakes.push(`${source}: ${read.mistake}`);
    else values.set(setting.name, read.value);
  }
  const settings = Object.fromEntries(values) as Settings;
  if (settings.pageDefault > settings.pageMax) {
    mistakes.push(`pageDefault: expected at most pageMax (${settings.pageMax}), given ${settings.pageDefault}`);
  }
  if (settings.workers > 1 && /^sqlite:/.test(settings.database)) {
    mistakes.push(`workers: expected 1 where the database is a SQLite file, which one process writes at a time; given ${settings.workers}`);
  }
  if (mistakes.length > 1) throw new SetupError(`${mistakes.length} settings cannot be used`, mistakes);
  if (mistakes[0] !== undefined) throw new SetupError(mistakes[0]);
  return Object.freeze(settings);
}

function toSetting(name: SettingName): Setting {
  const row: SettingRow = table[name];
  const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const flag = row.form === 'secret' ? undefined : `--${words}`;
  return Object.freeze({ ...row, name, flag, env: `${PREFIX}${words.replaceAll('-', '_').toUpperCase()}` });
}

function findGiven(setting: Setting, { flags = {}, env = {} }: SettingSources): { source: string; given: GivenSetting } | undefined {
  const flag = Object.hasOwn(flags, setting.name) ? flags[setting.name] : undefined;
  if (flag !== undefined) return { source: setting.flag ?? setting.name, given: flag };
  const variable = Object.hasOwn(env, setting.env) ? env[setting.env] : undefined;
  return variable === undefined || variable === '' ? undefined : { source: setting.env, given: variable };
}

/** Settings that a default refers to stand before it in the table. Where one of those was unusable, that is what gets reported. */
function defaultOf(setting: Setting, values: ReadonlyMap<string, unknown>): GivenSetting | undefined {
  if (setting.each !== undefined) return [];
  if (typeof setting.default !== 'string') return setting.default;
  return setting.default.replace(/<(\w+)>/g, (_, name: string) => String(values.get(name)));
}

/** A mistyped name would silently leave a default in force. Variables that merely share the prefix are let be: Kubernetes sets such. */
function* unknownNames({ flags = {}, env = {} }: SettingSources): Generator<string> {
  for (const name of Object.keys(flags)) {
    if (!SETTINGS.has(name)) yield `there is no setting "${name}"${didYouMean(name, SETTINGS.keys())}`;
  }
  const known = new Set([...SETTINGS.values()].map((setting) => setting.env.slice(PREFIX.length)));
  for (const name of Object.keys(env)) {
    if (!name.startsWith(PREFIX) || known.has(name.slice(PREFIX.length))) continue;
    const near = didYouMean(name.slice(PREFIX.length), known);
    if (near !== '') yield `there is no setting ${name}${near.replace('"', `"${PREFIX}`)}`;
  }
}
