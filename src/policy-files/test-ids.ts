import { createHash } from 'node:crypto';

/** Returns the id of a record of a test file: a UUID that depends on its resource and name alone. */
export function toTestId(resource: string, name: string): string {
  const hex = createHash('sha256')
    .update(JSON.stringify([resource, name]))
    .digest('hex');
  // Version 8 and the variant of RFC 9562.
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');
}

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Returns a text in which the ids of `names` are replaced by their names. */
export function withNames(text: string, names: ReadonlyMap<string, string>): string {
  return text.replace(ID, (id) => names.get(id) ?? id);
}
