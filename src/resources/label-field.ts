import type { Resource } from './resource.ts';

/** Names of fields that name a record, the best first. */
const NAMES = ['title', 'name', 'label', 'subject', 'email', 'slug', 'code', 'number'];

const TEXT_TYPES: ReadonlySet<string> = new Set(['string', 'text', 'email']);

/** Returns the name of the field that names the records of a resource for people, as the console does: a text field with a usual name, otherwise the first required text. */
export function labelFieldOf({ fields }: Resource): string | undefined {
  const texts = [...fields.values()].filter(({ type, writeOnly }) => TEXT_TYPES.has(type) && !writeOnly);
  const usual = NAMES.find((name) => texts.some((field) => field.name === name));
  return usual ?? texts.find(({ required, name }) => required && name !== 'id')?.name;
}
