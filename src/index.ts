/** What a program may import that runs Bailiwick as a library. */

export { type Config, type ConfigSources, parseConfig } from './config/index.ts';
export { Problem, type ProblemCode, SetupError } from './errors.ts';
export { createService, type Service } from './service.ts';
