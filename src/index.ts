/**
 * The library entry, for a program that runs a service:
 *
 * ```js
 * import { createService, parseConfig } from 'bailiwick';
 *
 * const config = parseConfig({ flags: { project: '.', port: 0 }, env: process.env });
 * const service = await createService(config);
 * await service.prepare(); // migrates the tables; listen does this too
 * const { url } = await service.listen();
 * console.log(`the API is at ${url}/api`);
 * await service.close(); // finishes the requests in flight
 * ```
 *
 * `parseConfig` throws a SetupError that names every setting that cannot be used, and `createService` one that names every mistake in the definitions.
 */
export { type Config, type ConfigSources, parseConfig } from './config/index.ts';
export { Problem, type ProblemCode, SetupError } from './errors.ts';
export { createService, type Service } from './service.ts';
