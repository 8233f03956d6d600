import { createRequire } from 'node:module';
import { expect, it, vi } from 'vitest';

const require = createRequire(import.meta.url);

it('prepareRequests loads the library of expressions, which the modules of the service do not load', async () => {
  const path = require.resolve('@bufbuild/cel');
  const isLoaded = (): boolean => Object.hasOwn(require.cache, path);
  // Another test file in the same process may have loaded it.
  vi.resetModules();
  delete require.cache[path];
  const { prepareRequests } = await import('./prepare-requests.ts');
  expect(isLoaded()).toBe(false);
  await prepareRequests();
  expect(isLoaded()).toBe(true);
});
