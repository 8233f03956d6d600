import { createRequire } from 'node:module';
import type * as Library from '@bufbuild/cel';
import type { CelFunc, CelObjectType, CelValue } from '@bufbuild/cel';

let loaded: typeof Library | undefined;

/**
 * Returns the CEL library. Loads it at the first call and not with this module: loading takes a fifth of the start-up time. A service loads
 * it after the start (`loadExpressions`), because it takes 60 ms in which no request is answered.
 */
export function celLibrary(): typeof Library {
  loaded ??= createRequire(import.meta.url)('@bufbuild/cel') as typeof Library;
  return loaded;
}

/** Loads the CEL library, so that no request waits for it. */
export function loadExpressions(): void {
  celLibrary();
}

/** Adds to the effort of an evaluation. Throws if the limit is exceeded. */
export type SpendEffort = (effort: number) => void;

/** Throws an error in a CEL function, which makes the result of the expression unknown. */
export function refuse(reason: string): never {
  throw new Error(reason);
}

/** Returns the library's function `name`. The returned function throws if its result is an error. */
export function standardFunction(name: string): (...args: readonly CelValue[]) => CelValue {
  const { celEnv, isCelError } = celLibrary();
  const standard: Pick<CelFunc, 'call'> | undefined = celEnv().funcs.find(name);
  return (...args) => {
    const value = standard?.call(0, undefined, [...args]);
    return value === undefined || isCelError(value) ? refuse(`${name} has no value`) : value;
  };
}

/** A timestamp or duration of CEL. */
export type CelTime = CelValue<CelObjectType>;

/** Returns the types of timestamps and durations. */
export function timeTypes(): { readonly TIMESTAMP: CelObjectType; readonly DURATION: CelObjectType } {
  const { objectType } = celLibrary();
  return { TIMESTAMP: objectType('google.protobuf.Timestamp'), DURATION: objectType('google.protobuf.Duration') };
}
