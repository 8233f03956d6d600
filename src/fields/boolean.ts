import type { FieldType } from './field-type.ts';

/** The field type `boolean`. */
export const boolean: FieldType = Object.freeze({
  name: 'boolean',
  label: 'Yes or no',
  summary: '`true` or `false`.',
  options: [],
  kind: 'boolean',
  column: 'boolean',
  widensTo: [],
  form: 'checkbox',
  example: true,
  jsonSchema: () => ({ type: 'boolean' }),
  toColumn: (value) => (typeof value === 'boolean' ? Number(value) : undefined),
  fromColumn: (stored) => stored === true || stored === 1 || stored === 1n,
} satisfies FieldType);
