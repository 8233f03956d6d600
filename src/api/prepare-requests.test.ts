import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';

const require = createRequire(import.meta.url);

it('prepareRequests loads the library of expressions, which the modules of the service do not load', () => {
  // In a process of its own: other tests may have loaded the library in this one.
  const program = `
    import { createRequire } from 'node:module';
    const { cache } = createRequire(${JSON.stringify(import.meta.url)});
    const isLoaded = () => Object.hasOwn(cache, ${JSON.stringify(require.resolve('@bufbuild/cel'))});
    const { prepareRequests } = await import(${JSON.stringify(import.meta.resolve('./prepare-requests.ts'))});
    const before = isLoaded();
    await prepareRequests();
    process.stdout.write(JSON.stringify([before, isLoaded()]));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
  expect(JSON.parse(printed)).toEqual([false, true]);
});
