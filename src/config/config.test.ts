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

describe('parseConfig', () => {
  it('returns the defaults, frozen', () => {
    const config = parseConfig({});
    expect(config).toMatchObject({ project: '.', host: '127.0.0.1', port: 8787, pageMax: 1000, auditMode: 'strict', trustProxy: [] });
    expect(config.jwtSecret).toBeUndefined();
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('prefers the flag to the environment, and the environment to the default', () => {
    const env = { BAILIWICK_PORT: '1', BAILIWICK_HOST: '::1' };
    expect(parseConfig({ flags: { port: '2' }, env })).toMatchObject({ port: 2, host: '::1', drainSeconds: 10 });
  });

  it('uses PORT and HOST if BAILIWICK_PORT and BAILIWICK_HOST are absent', () => {
    const env = { PORT: '3000', HOST: '0.0.0.0' };
    expect(parseConfig({ env })).toMatchObject({ port: 3000, host: '0.0.0.0' });
    expect(parseConfig({ env: { ...env, BAILIWICK_PORT: '1', BAILIWICK_HOST: '::1' } })).toMatchObject({ port: 1, host: '::1' });
    expect(parseConfig({ flags: { port: '2', host: '::1' }, env })).toMatchObject({ port: 2, host: '::1' });
    expect(parseConfig({ env: { PORT: '', BAILIWICK_PORT: '' } }).port).toBe(8787);
    expect(mistakesOf({ env: { PORT: 'http' } })).toEqual([expect.stringMatching(/^PORT: .*"http"/)]);
  });

  it('ignores an empty variable', () => {
    expect(parseConfig({ env: { BAILIWICK_PORT: '' } }).port).toBe(8787);
  });

  it('accepts numbers and lists from a program that imports the package', () => {
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

  const wrong: readonly [string, ConfigSources, RegExp][] = [
    [
      'a setting outside of flags',
      { port: 0 } as object,
      /^there is no source "port": expected flags and env, as in \{ flags: \{ port: … \} \}$/,
    ],
    ['an unknown source', { enviroment: {} } as object, /^there is no source "enviroment": expected flags and env$/],
    ['a port above 65535', { flags: { port: '65536' } }, /^--port: .*"65536"$/],
    ['a port that is not a number', { env: { BAILIWICK_PORT: '80a' } }, /^BAILIWICK_PORT: .*"80a"$/],
    ['a fraction', { flags: { port: 1.5 } }, /^--port: .*"1\.5"$/],
    ['an exponent', { flags: { port: '1e3' } }, /^--port: .*"1e3"$/],
    ['an empty number', { flags: { port: '' } }, /^--port: .*""$/],
    ['an empty text', { flags: { host: '' } }, /^--host: .*an empty one$/],
    ['an unknown value', { flags: { auditMode: 'strikt' } }, /^--audit-mode: .*"strikt".*"strict"/],
    ['an unsupported database', { flags: { database: 'mysql://u:pw@h/d' } }, /^--database: (?!.*u:pw).*sqlite:.*postgres:/],
    ['a short secret', { env: { BAILIWICK_JWT_SECRET: 'é'.repeat(15) } }, /^BAILIWICK_JWT_SECRET: (?!.*é).*30$/],
    ['an unknown time zone', { flags: { timezone: 'Europe/Pari' } }, /^--timezone: .*"Europe\/Pari".*"Europe\/Paris"/],
    ['an invalid CIDR', { flags: { trustProxy: '10.0.0.0/33' } }, /^--trust-proxy: .*"10\.0\.0\.0\/33"$/],
    ['a proxy that is not an address', { flags: { trustProxy: 'true' } }, /^--trust-proxy: .*"true"$/],
    [
      'an issuer that contains "|"',
      { flags: { trustedIssuers: 'https://a.example|b' } },
      /^--trusted-issuers: .*"https:\/\/a\.example\|b"$/,
    ],
    ['an origin that is not a URL', { flags: { corsOrigins: '*' } }, /^--cors-origins: .*"\*"$/],
    [
      'a port of PostgreSQL above 65535',
      { flags: { database: 'postgresql://a:pw@127.0.0.1:99999/x' } },
      /^--database: expected a port up to 65535 after the host$/,
    ],
    ['several workers on a database in memory', { flags: { workers: 4, database: 'sqlite::memory:' } }, /^workers: .*4$/],
    ['a metrics address without a host', { flags: { metricsAddress: '9464' } }, /^--metrics-address: .*"9464"$/],
    ['a metrics address with a port above 65535', { flags: { metricsAddress: '[::1]:65536' } }, /^--metrics-address: .*"\[::1\]:65536"$/],
    ['a short metrics token', { env: { BAILIWICK_METRICS_TOKEN: 'open' } }, /^BAILIWICK_METRICS_TOKEN: (?!.*open).*4$/],
    ['an origin with a path', { flags: { corsOrigins: 'https://a.b/' } }, /^--cors-origins: .*"https:\/\/a\.b\/"$/],
    ['a default page size above the maximum', { flags: { pageDefault: 20, pageMax: 10 } }, /^pageDefault: .*20$/],
    ['a mistyped variable', { env: { BAILIWICK_POORT: '1' } }, /BAILIWICK_POORT.*"BAILIWICK_PORT"/],
  ];
  it.each(wrong)('refuses settings with %s', (_, sources, mistake) => {
    expect(mistakesOf(sources)).toEqual([expect.stringMatching(mistake)]);
  });

  it('refuses an unknown name, also an inherited one', () => {
    const flags = JSON.parse('{ "prt": 1, "constructor": 2, "__proto__": 3 }');
    expect(mistakesOf({ flags })).toEqual([/"prt".*"port"/, /"constructor"$/, /"__proto__"$/].map((name) => expect.stringMatching(name)));
  });

  it('lists every mistake of the settings', () => {
    expect(mistakesOf({ flags: { port: 'x', drainSeconds: -1 }, env: { BAILIWICK_TIMEZONE: 'Mars/Olympus' } })).toHaveLength(3);
  });

  it('ignores other variables with the prefix, which Kubernetes sets', () => {
    expect(mistakesOf({ env: { BAILIWICK_SERVICE_HOST: '10.0.0.1', BAILIWICK_PORT_8787_TCP_ADDR: '10.0.0.1' } })).toEqual([]);
  });

  it('accepts aliases of time zones', () => {
    expect(parseConfig({ flags: { timezone: 'Asia/Calcutta' } }).timezone).toBe('Asia/Calcutta');
  });
});

describe('CONFIG_OPTIONS', () => {
  it('derives flag and variable from the name, and has no flag for a secret', () => {
    const { flag, env } = CONFIG_OPTIONS.get('accessTokenSeconds') ?? {};
    expect({ flag, env }).toEqual({ flag: '--access-token-seconds', env: 'BAILIWICK_ACCESS_TOKEN_SECONDS' });
    expect(CONFIG_OPTIONS.get('jwtSecret')?.flag).toBeUndefined();
  });

  it('each option has a titled group, and a default within its range', () => {
    for (const option of CONFIG_OPTIONS.values()) {
      expect(CONFIG_GROUPS.has(option.group), option.name).toBe(true);
      const [min, max] = option.range ?? [0, 0];
      if (option.range !== undefined) expect(Number(option.default) >= min && Number(option.default) <= max, option.name).toBe(true);
    }
  });
});
