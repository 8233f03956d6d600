import type { Json } from '../operators/index.ts';
import { TEXT_COLUMN } from './characters.ts';
import type { FieldType } from './field-type.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const EXAMPLE = '018f4e6a-1c2b-7d3e-8f40-5a6b7c8d9e0f';

/** The field type `uuid`. */
export const uuid: FieldType = Object.freeze({
  ...TEXT_COLUMN,
  name: 'uuid',
  label: 'UUID',
  summary: 'A UUID of any version. Stored in lower case.',
  options: [],
  kind: 'text',
  widensTo: ['string', 'text'],
  form: 'input',
  example: EXAMPLE,
  jsonSchema: () => ({ type: 'string', format: 'uuid' }),
  validateValue: (value: Json) => (typeof value === 'string' && UUID.test(value) ? undefined : `expected a UUID such as ${EXAMPLE}`),
  toCanonical: (value: Json) => (typeof value === 'string' ? value.toLowerCase() : value),
} satisfies FieldType);
