import { describe, expect, it } from 'vitest';
import { CONFIG_OPTIONS, parseConfig } from './config.ts';
import { describeConfig } from './describe-config.ts';

const CANARY = 'canary-0123456789-0123456789-0123456789';

/** Returns a valid value of an option that contains the canary, if its form permits one. */
function canaryOf(name: string): string | undefined {
  const { form, each, range, values } = CONFIG_OPTIONS.get(name) ?? {};
  if (range !== undefined || values !== undefined || each !== undefined) return undefined;
  if (form === undefined || form === 'text' || form === 'secret') return CANARY;
  return form === 'database' ? `postgres://${CANARY}:${CANARY}@db.example:5433/app?password=${CANARY}&schema=${CANARY}` : undefined;
}

const ENV = Object.fromEntries(
  [...CONFIG_OPTIONS.values()].flatMap(({ name, env }) => {
    const value = canaryOf(name);
    return value === undefined ? [] : [[env, value] as const];
  }),
);

const describedOf = (config: Parameters<typeof describeConfig>[0]) =>
  new Map(describeConfig(config).map((option) => [option.name, option]));

describe('describeConfig', () => {
  it('names the source of each value', () => {
    const config = parseConfig({ flags: { port: 1 }, env: { BAILIWICK_HOST: '::1', PORT: '2' } });
    const described = describedOf(config);
    expect(described.get('port')).toEqual({ name: 'port', group: 'network', source: 'flag', value: 1 });
    expect(described.get('host')).toMatchObject({ source: 'environment', value: '::1' });
    expect(described.get('data')).toMatchObject({ source: 'default', value: './data' });
    expect(described.get('jwtSecret')).toEqual({ name: 'jwtSecret', group: 'authentication', source: 'default' });
  });

  it('keeps the sources of a configuration that is copied', () => {
    const config = parseConfig({ flags: { port: 1 } });
    expect(describedOf({ ...config, host: '::1' }).get('port')).toMatchObject({ source: 'flag' });
  });

  it('shows no secret and no credentials of the database, in any option', () => {
    const config = parseConfig({ env: ENV });
    const shown = describeConfig(config).filter((option) => JSON.stringify(option).includes(CANARY));
    // These options are names and paths, which are no secrets.
    const open = [...CONFIG_OPTIONS.values()].filter(
      ({ name, form }) => canaryOf(name) !== undefined && (form === undefined || form === 'text'),
    );
    expect(shown.map(({ name }) => name).toSorted()).toEqual(open.map(({ name }) => name).toSorted());
    expect(describedOf(config).get('database')?.value).toBe('postgres://db.example:5433/app');
    for (const { name, form } of CONFIG_OPTIONS.values())
      if (form === 'secret')
        expect(describedOf(config).get(name)).toEqual(expect.objectContaining({ isHidden: true, source: 'environment' }));
  });

  it('every option whose name sounds like a secret is one', () => {
    const secrets = [...CONFIG_OPTIONS.values()].filter(({ name }) => /secret|password|token$|key$/i.test(name));
    expect(secrets.length).toBeGreaterThan(1);
    expect(secrets.filter(({ form }) => form !== 'secret')).toEqual([]);
  });
});
