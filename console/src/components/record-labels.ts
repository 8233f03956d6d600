/** Names of records for people. */
import type { Schemas } from '../api/client.ts';
import type { Row } from '../api/records.ts';

/** The description of a resource in the catalogue. */
export type ResourceDescription = Schemas['api.ResourceDescription'];

/** Names of fields that name a record, the best first. */
const NAMES = ['title', 'name', 'label', 'subject', 'email', 'slug', 'code', 'number'];

const TEXT_TYPES: ReadonlySet<string> = new Set(['string', 'text', 'email']);

/** Returns the field that names the records of a resource: a text field with a usual name, otherwise the first required text. */
export function labelField({ fields }: Pick<ResourceDescription, 'fields'>): string | undefined {
  const texts = fields.filter(({ type, to, writeOnly }) => TEXT_TYPES.has(type) && to === undefined && !writeOnly);
  const usual = NAMES.find((name) => texts.some((field) => field.name === name));
  return usual ?? texts.find(({ required, name }) => required && name !== 'id')?.name;
}

/** Returns the text that names a record: the value of its naming field, otherwise its e-mail address, which users have; its id without both. */
export function labelOf(row: Row, field: string | undefined): string {
  const texts = [field === undefined ? undefined : row[field], row['email']];
  return texts.find((text): text is string => typeof text === 'string' && text !== '') ?? row.id;
}
