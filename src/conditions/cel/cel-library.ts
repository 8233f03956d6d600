import { createRequire } from 'node:module';
import type * as Library from '@bufbuild/cel';
import type { CelFunc, CelObjectType, CelValue } from '@bufbuild/cel';

let loaded: typeof Library | undefined;

/** The CEL library, loaded with the first expression: that takes a fifth of the time to start, and most projects have none. */
export function celLibrary(): typeof Library {
  loaded ??= createRequire(import.meta.url)('@bufbuild/cel') as typeof Library;
  return loaded;
}

/** Counts the effort of an evaluation; throws where none is left. */
export type SpendEffort = (effort: number) => void;

/** Throws an error of a CEL function, which makes the expression unknown. */
export function refuse(reason: string): never {
  throw new Error(reason);
}

/** The library's own function of a name, which throws where it has no value. */
export function standardFunction(name: string): (...args: readonly CelValue[]) => CelValue {
  const { celEnv, isCelError } = celLibrary();
  const standard: Pick<CelFunc, 'call'> | undefined = celEnv().funcs.find(name);
  return (...args) => {
    const value = standard?.call(0, undefined, [...args]);
    return value === undefined || isCelError(value) ? refuse(`${name} has no value`) : value;
  };
}

/** An instant or a duration of CEL. */
export type CelTime = CelValue<CelObjectType>;

/** The types of instants and durations. */
export function timeTypes(): { readonly TIMESTAMP: CelObjectType; readonly DURATION: CelObjectType } {
  const { objectType } = celLibrary();
  return { TIMESTAMP: objectType('google.protobuf.Timestamp'), DURATION: objectType('google.protobuf.Duration') };
}
