import type { Json } from '../operators/index.ts';
import { TEXT_COLUMN } from './characters.ts';
import type { FieldType } from './field-type.ts';

const MAX_LENGTH = 2048;

/** The field type `url`. */
export const url: FieldType = Object.freeze({
  ...TEXT_COLUMN,
  name: 'url',
  label: 'Web address',
  summary: 'An absolute URL with the scheme `http` or `https`, of at most 2,048 characters. Stored unchanged.',
  options: [],
  kind: 'text',
  widensTo: ['string', 'text'],
  form: 'input',
  example: 'https://example.org/news',
  // Without `format`: its definition lacks values that are accepted, such as `http://x/é`.
  jsonSchema: () => ({ type: 'string', maxLength: MAX_LENGTH, description: 'an absolute URL with the scheme http or https' }),
  validateValue: (value) => (isWebAddress(value) ? undefined : 'expected an address such as https://example.org/news'),
} satisfies FieldType);

// Other schemes are rejected because a page that renders the field as a link would execute `javascript:`.
// Spaces and control characters are rejected because the URL parser drops them, so it would validate another text than the stored one.
function isWebAddress(value: Json): boolean {
  if (typeof value !== 'string' || value.length > MAX_LENGTH || !/^https?:\/\/[^\s\p{Cc}\p{Cs}]+$/iu.test(value)) return false;
  return URL.canParse(value);
}
