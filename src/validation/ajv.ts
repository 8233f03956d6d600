import { createRequire } from 'node:module';
import type * as Library from 'ajv';
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { matchesPattern } from '../operators/index.ts';
import { TEXT_FORMATS } from './text-formats.ts';

export type { Ajv, ErrorObject, ValidateFunction };

let loaded: typeof Library | undefined;

/**
 * Loads Ajv on first use, because a start with simple defaults does not need it. The service loads it after it listens, so that a later
 * replacement of the package does not break writes.
 */
function loadValidator(): typeof Library {
  loaded ??= createRequire(import.meta.url)('ajv') as typeof Library;
  return loaded;
}

// Makes Ajv match `pattern` with RE2, in linear time. Ajv uses `code` only to generate standalone code.
const re2 = Object.assign(
  (source: string) => ({ test: (text: string): boolean => matchesPattern(text, source) === true, toString: () => source }),
  { code: 'matchesPattern' },
);

/**
 * Creates an Ajv instance that reports all errors and matches patterns with RE2.
 *
 * @param validatesFormats False for the values of records: their field types validate formats.
 */
export function createAjv(validatesFormats = false): Ajv {
  const { Ajv } = loadValidator();
  const formats = validatesFormats
    ? Object.fromEntries([...TEXT_FORMATS].map(([name, explain]) => [name, (text: string) => explain(text) === undefined]))
    : {};
  return new Ajv({
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    ownProperties: true,
    meta: false,
    validateSchema: false,
    strictSchema: false,
    validateFormats: validatesFormats,
    formats,
    code: { regExp: re2 },
  });
}
