import { createRequire } from 'node:module';
import type * as Library from 'ajv';
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { matchesPattern } from '../operators/index.ts';

export type { Ajv, ErrorObject, ValidateFunction };

// How ajv is to understand `pattern`: as RE2, in linear time. `code` would only be used for code written to a file.
const re2 = Object.assign(
  (source: string) => ({ test: (text: string): boolean => matchesPattern(text, source) === true, toString: () => source }),
  { code: 'matchesPattern' },
);

let loaded: typeof Library | undefined;

/**
 * Loads what values are checked with, where nothing has asked for it yet: a start does not where defaults are plain. Whoever serves requests
 * does so before the first of them writes, for which a package that is replaced later would be missing.
 */
export function loadChecks(): typeof Library {
  loaded ??= createRequire(import.meta.url)('ajv') as typeof Library;
  return loaded;
}

/** An instance of Ajv. */
export function createAjv(): Ajv {
  const { Ajv } = loadChecks();
  return new Ajv({
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    ownProperties: true,
    meta: false,
    validateSchema: false,
    // What a format means is said once, by the field type's checkValue.
    validateFormats: false,
    code: { regExp: re2 },
  });
}
