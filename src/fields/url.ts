import type { Json } from '../operators/index.ts';
import { TEXT_COLUMN } from './characters.ts';
import type { FieldType } from './field-type.ts';

const LONGEST = 2048;

/** A web address. */
export const url: FieldType = Object.freeze({
  ...TEXT_COLUMN,
  name: 'url',
  label: 'Web address',
  summary: 'A whole address beginning with `http://` or `https://`, at most 2,048 characters; kept as given.',
  options: [],
  kind: 'text',
  widensTo: ['string', 'text'],
  form: 'input',
  example: 'https://example.org/news',
  jsonSchema: () => ({ type: 'string', format: 'uri', maxLength: LONGEST }),
  checkValue: (value) => (isWebAddress(value) ? undefined : 'expected an address such as https://example.org/news'),
} satisfies FieldType);

// Other schemes are refused because a page that shows the field as a link would run `javascript:`;
// spaces and control characters, because the URL parser drops them and so would approve of another text than the one stored.
function isWebAddress(value: Json): boolean {
  if (typeof value !== 'string' || value.length > LONGEST || !/^https?:\/\/[^\s\p{Cc}\p{Cs}]+$/iu.test(value)) return false;
  return URL.canParse(value);
}
