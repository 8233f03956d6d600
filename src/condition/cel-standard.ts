import type { CelFunc, CelObjectType, CelValue } from '@bufbuild/cel';
import { celLibrary } from './cel-library.ts';

/** Counts the effort of an evaluation; throws where none is left. */
export type Spend = (effort: number) => void;

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
