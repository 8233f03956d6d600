import type { Field } from '../fields/index.ts';
import type { JsonObject } from '../operators/index.ts';
import { parseField } from './parse-field.ts';
import type { Resource } from './resource.ts';

const ORDINARY: Readonly<Record<string, JsonObject>> = {
  id: { type: 'uuid', required: true, readOnly: true, description: 'Generated; ids sort in the order of creation.' },
  version: { type: 'integer', required: true, readOnly: true, min: 1, description: 'Incremented by every change of the record.' },
  createdAt: { type: 'timestamp', required: true, readOnly: true },
  updatedAt: { type: 'timestamp', required: true, readOnly: true },
  // No reference, because it can name an identity of a trusted issuer, or a user who was deleted since. Paths of conditions follow it.
  createdBy: { type: 'string', readOnly: true, maxLength: 200, description: 'Id of the user who created the record; null for anon.' },
};

const DELETED: Readonly<Record<string, JsonObject>> = {
  deletedAt: { type: 'timestamp', readOnly: true, description: 'Time of the deletion; null if the record is not deleted.' },
  deletedBy: { type: 'string', readOnly: true, maxLength: 200, description: 'Id of the user who deleted the record; null for anon.' },
};

const AUTHORS: readonly string[] = ['createdBy', 'deletedBy'];

const INTERNAL: Readonly<Record<string, JsonObject>> = {
  id: { type: 'string', required: true, readOnly: true },
};

/** Returns the automatic fields of a resource. An internal resource has only `id`. */
export function automaticFields({ internal, softDelete }: Pick<Resource, 'internal' | 'softDelete'>): ReadonlyMap<string, Field> {
  if (internal) return internalFields;
  return softDelete ? deletableFields : ordinaryFields;
}

/** Returns true for `deletedAt` and `deletedBy` of a resource with soft deletes. */
export function isDeletionField({ softDelete }: Pick<Resource, 'softDelete'>, name: string): boolean {
  return softDelete && Object.hasOwn(DELETED, name);
}

function parseAll(sources: Readonly<Record<string, JsonObject>>): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>();
  for (const [name, source] of Object.entries(sources)) {
    const field = parseField(source, { name, path: [name], builtIn: true }, (path, detail) => {
      throw new Error(`${path.join('.')}: ${detail}`);
    });
    if (field !== undefined) fields.set(name, field);
  }
  return fields;
}

const ordinaryFields = parseAll(ORDINARY);
const deletableFields = parseAll({ ...ORDINARY, ...DELETED });
const internalFields = parseAll(INTERNAL);

/** `createdBy` and `deletedBy`: they contain the id of a user, although they are no references. */
const authorFields: ReadonlySet<Field> = new Set(
  [ordinaryFields, deletableFields].flatMap((fields) => [...fields.values()].filter(({ name }) => AUTHORS.includes(name))),
);

/** Returns the name of the resource that paths of conditions reach through a field; undefined if they follow no reference. */
export function targetName(field: Field): string | undefined {
  return authorFields.has(field) ? 'User' : field.to;
}
