import { boolean } from './boolean.ts';
import { date } from './date.ts';
import { decimal } from './decimal.ts';
import { email } from './email.ts';
import { enumeration } from './enum.ts';
import type { FieldType } from './field-type.ts';
import { integer } from './integer.ts';
import { json } from './json.ts';
import { createListType } from './list.ts';
import { number } from './number.ts';
import { password } from './password.ts';
import { reference } from './reference.ts';
import { string } from './string.ts';
import { text } from './text.ts';
import { timestamp } from './timestamp.ts';
import { url } from './url.ts';
import { uuid } from './uuid.ts';

/** Types of single values, which items of a list may have. */
const scalars: readonly FieldType[] = [
  string,
  text,
  integer,
  number,
  decimal,
  boolean,
  date,
  timestamp,
  enumeration,
  email,
  url,
  uuid,
  reference,
];

/** Every field type by name. */
export const FIELD_TYPES: ReadonlyMap<string, FieldType> = byName([...scalars, createListType(byName(scalars)), json, password]);

function byName(types: readonly FieldType[]): ReadonlyMap<string, FieldType> {
  return new Map(types.map((type) => [type.name, type]));
}
