import { describe, expect, it } from 'vitest';
import { SetupError } from '../errors.ts';
import { CONFIG_GROUPS, CONFIG_OPTIONS, type ConfigSources, parseConfig } from './config.ts';

function mistakesOf(sources: ConfigSources): readonly string[] {
  try {
    parseConfig(sources);
    return [];
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return error.mistakes.length === 0 ? [error.message] : error.mistakes;
  }
}

describe('readSettings', () => {
  it('gives the defaults, frozen', () => {
    const settings = parseConfig({});
    expect(settings).toMatchObject({ project: '.', host: '127.0.0.1', port: 8787, pageMax: 1000, auditMode: 'strict', trustProxy: [] });
    expect(settings.jwtSecret).toBeUndefined();
    expect(Object.isFrozen(settings)).toBe(true);
  });

  it('puts the flag before the environment, and the environment before the default', () => {
    const env = { BAILIWICK_PORT: '1', BAILIWICK_HOST: '::1' };
    expect(parseConfig({ flags: { port: '2' }, env })).toMatchObject({ port: 2, host: '::1', drainSeconds: 10 });
  });

  it('takes PORT and HOST where our own variables are absent', () => {
    const env = { PORT: '3000', HOST: '0.0.0.0' };
    expect(parseConfig({ env })).toMatchObject({ port: 3000, host: '0.0.0.0' });
    expect(parseConfig({ env: { ...env, BAILIWICK_PORT: '1', BAILIWICK_HOST: '::1' } })).toMatchObject({ port: 1, host: '::1' });
    expect(parseConfig({ flags: { port: '2', host: '::1' }, env })).toMatchObject({ port: 2, host: '::1' });
    expect(parseConfig({ env: { PORT: '', BAILIWICK_PORT: '' } }).port).toBe(8787);
    expect(mistakesOf({ env: { PORT: 'http' } })).toEqual(['PORT: expected a whole number from 0 to 65535, given "http"']);
  });

  it('takes an empty variable as absent', () => {
    expect(parseConfig({ env: { BAILIWICK_PORT: '' } }).port).toBe(8787);
  });

  it('takes numbers and lists as such from a library user', () => {
    const flags = { port: 0, corsOrigins: ['https://a.example', 'http://localhost:3000'] };
    expect(parseConfig({ flags })).toMatchObject(flags);
  });

  it('derives the data folder from the project, and the database from the data folder', () => {
    expect(parseConfig({ flags: { project: 'p' } })).toMatchObject({ data: 'p/data', database: 'sqlite:p/data/bailiwick.db' });
    expect(parseConfig({ flags: { project: 'p', data: 'd' } }).database).toBe('sqlite:d/bailiwick.db');
  });

  it('splits lists at commas', () => {
    expect(parseConfig({ env: { BAILIWICK_TRUST_PROXY: '10.0.0.0/8, ::1' } }).trustProxy).toEqual(['10.0.0.0/8', '::1']);
  });

  const wrong: readonly [string, ConfigSources, string][] = [
    ['a port beyond the last', { flags: { port: '65536' } }, '--port: expected a whole number from 0 to 65535, given "65536"'],
    [
      'a port that is no number',
      { env: { BAILIWICK_PORT: '80a' } },
      'BAILIWICK_PORT: expected a whole number from 0 to 65535, given "80a"',
    ],
    ['a fraction', { flags: { port: 1.5 } }, '--port: expected a whole number from 0 to 65535, given "1.5"'],
    ['an exponent', { flags: { port: '1e3' } }, '--port: expected a whole number from 0 to 65535, given "1e3"'],
    ['an empty number', { flags: { port: '' } }, '--port: expected a whole number from 0 to 65535, given ""'],
    ['an empty text', { flags: { host: '' } }, '--host: expected text, given nothing'],
    [
      'a value that is none',
      { flags: { auditMode: 'strikt' } },
      '--audit-mode: expected strict or relaxed, given "strikt" (did you mean "strict"?)',
    ],
    [
      'another database',
      { flags: { database: 'mysql://u:pw@h/d' } },
      '--database: expected sqlite:<path> or postgres://user:password@host:5432/database',
    ],
    ['a short secret', { env: { BAILIWICK_JWT_SECRET: 'é'.repeat(15) } }, 'BAILIWICK_JWT_SECRET: expected at least 32 bytes, given 30'],
    [
      'a time zone',
      { flags: { timezone: 'Europe/Pari' } },
      '--timezone: expected an IANA time zone, given "Europe/Pari" (did you mean "Europe/Paris"?)',
    ],
    ['a proxy', { flags: { trustProxy: '10.0.0.0/33' } }, '--trust-proxy: expected addresses or CIDRs, given "10.0.0.0/33"'],
    ['every proxy', { flags: { trustProxy: 'true' } }, '--trust-proxy: expected addresses or CIDRs, given "true"'],
    [
      'an issuer that could end in a subject',
      { flags: { trustedIssuers: 'https://a.example|b' } },
      '--trusted-issuers: expected issuers of at most 120 characters without "|", given "https://a.example|b"',
    ],
    [
      'an origin',
      { flags: { corsOrigins: '*' } },
      '--cors-origins: expected origins such as https://app.example.com, or localhost for pages of this machine, given "*"',
    ],
    [
      'workers that would share a file',
      { flags: { workers: 4 } },
      'workers: expected 1 where the database is a SQLite file, which one process writes at a time; given 4',
    ],
    [
      'a port without an address',
      { flags: { metricsAddress: '9464' } },
      '--metrics-address: expected <address>:<port> such as 127.0.0.1:9464, given "9464"',
    ],
    [
      'a port that there is none of',
      { flags: { metricsAddress: '[::1]:65536' } },
      '--metrics-address: expected <address>:<port> such as 127.0.0.1:9464, given "[::1]:65536"',
    ],
    [
      'a short token of metrics',
      { env: { BAILIWICK_METRICS_TOKEN: 'open' } },
      'BAILIWICK_METRICS_TOKEN: expected at least 32 bytes, given 4',
    ],
    [
      'an origin with a path',
      { flags: { corsOrigins: 'https://a.b/' } },
      '--cors-origins: expected origins such as https://app.example.com, or localhost for pages of this machine, given "https://a.b/"',
    ],
    ['pages that do not fit', { flags: { pageDefault: 20, pageMax: 10 } }, 'pageDefault: expected at most pageMax (10), given 20'],
    ['a mistyped variable', { env: { BAILIWICK_POORT: '1' } }, 'there is no setting BAILIWICK_POORT (did you mean "BAILIWICK_PORT"?)'],
  ];
  it.each(wrong)('refuses %s', (_, sources, sentence) => {
    expect(mistakesOf(sources)).toEqual([sentence]);
  });

  it('refuses a name that is no setting, an inherited one too', () => {
    const flags = JSON.parse('{ "prt": 1, "constructor": 2, "__proto__": 3 }');
    expect(mistakesOf({ flags })).toEqual([
      'there is no setting "prt" (did you mean "port"?)',
      'there is no setting "constructor"',
      'there is no setting "__proto__"',
    ]);
  });

  it('lists every mistake', () => {
    expect(mistakesOf({ flags: { port: 'x', drainSeconds: -1 }, env: { BAILIWICK_TIMEZONE: 'Mars/Olympus' } })).toHaveLength(3);
  });

  it('lets be what only shares the prefix: Kubernetes sets such variables', () => {
    expect(mistakesOf({ env: { BAILIWICK_SERVICE_HOST: '10.0.0.1', BAILIWICK_PORT_8787_TCP_ADDR: '10.0.0.1' } })).toEqual([]);
  });

  it('knows time zones that are links', () => {
    expect(parseConfig({ flags: { timezone: 'Asia/Calcutta' } }).timezone).toBe('Asia/Calcutta');
  });
});

describe('SETTINGS', () => {
  it('has names that follow from one another, and no flag for a secret', () => {
    const { flag, env } = CONFIG_OPTIONS.get('accessTokenSeconds') ?? {};
    expect({ flag, env }).toEqual({ flag: '--access-token-seconds', env: 'BAILIWICK_ACCESS_TOKEN_SECONDS' });
    expect(CONFIG_OPTIONS.get('jwtSecret')?.flag).toBeUndefined();
  });

  it('puts each into a group that has a title, with a default that is within its range', () => {
    for (const setting of CONFIG_OPTIONS.values()) {
      expect(CONFIG_GROUPS.has(setting.group), setting.name).toBe(true);
      const [min, max] = setting.range ?? [0, 0];
      if (setting.range !== undefined) expect(Number(setting.default) >= min && Number(setting.default) <= max, setting.name).toBe(true);
    }
  });
});
