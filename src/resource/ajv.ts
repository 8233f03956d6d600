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

/** An instance of Ajv, which is loaded with the first: a start asks for none where defaults are plain. */
export function createAjv(): Ajv {
  loaded ??= createRequire(import.meta.url)('ajv') as typeof Library;
  return new loaded.Ajv({
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
