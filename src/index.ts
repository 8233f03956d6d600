/** The library entry: a program that imports the package starts the service with `createService(parseConfig({ … }))`. */
import { type Config, type ConfigSources, parseConfig } from './config/index.ts';

export { type Config, type ConfigSources, parseConfig } from './config/index.ts';
export { Problem, type ProblemCode, SetupError } from './errors.ts';
export { createService, type Service } from './service.ts';

/** @deprecated Use `parseConfig`. Removed in the next version. */
export const readSettings: typeof parseConfig = parseConfig;

/** @deprecated Use `Config`. Removed in the next version. */
export type Settings = Config;

/** @deprecated Use `ConfigSources`. Removed in the next version. */
export type SettingSources = ConfigSources;
