import { expect, it } from 'vitest';
import { runCli } from './program.ts';
import { createRun } from './run.fixture.ts';

it.each([
  [{}, 'token'],
  [{ BAILIWICK_SETUP: '' }, 'token'],
  [{ BAILIWICK_SETUP: 'off' }, 'off'],
])('a variable of the environment precedes that of the file .env, unless it is empty: %j', async (env, setup) => {
  const run = createRun({}, env);
  const context = { ...run.context, readEnvFile: async () => ({ BAILIWICK_SETUP: 'token' }) };
  await runCli(['user', 'promote', 'ada@example.com'], context);
  expect(run.made.map((config) => config.setup)).toEqual([setup]);
});
