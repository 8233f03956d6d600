import type { Field } from '../fields/index.ts';
import type { JsonObject } from '../operators/index.ts';
import { parseField } from './parse-field.ts';
import type { Resource } from './resource.ts';

const ORDINARY: Readonly<Record<string, JsonObject>> = {
  id: { type: 'uuid', required: true, readOnly: true, description: 'Generated; in the order of creation.' },
  version: { type: 'integer', required: true, readOnly: true, min: 1, description: 'Counts the changes of the record.' },
  createdAt: { type: 'timestamp', required: true, readOnly: true },
  updatedAt: { type: 'timestamp', required: true, readOnly: true },
  // Text, not a reference: it may name a user of a trusted issuer, or one who has been deleted since.
  createdBy: { type: 'string', readOnly: true, maxLength: 200, description: 'Id of the user who created the record; none for anon.' },
};

const DELETED: Readonly<Record<string, JsonObject>> = {
  deletedAt: { type: 'timestamp', readOnly: true, description: 'When the record was deleted; none while it lives.' },
  deletedBy: { type: 'string', readOnly: true, maxLength: 200, description: 'Id of the user who deleted the record; none for anon.' },
};

const INTERNAL: Readonly<Record<string, JsonObject>> = {
  id: { type: 'string', required: true, readOnly: true },
};

/** The fields that every record has by itself. Internal resources say the rest on their own. */
export function automaticFields({ internal, softDelete }: Pick<Resource, 'internal' | 'softDelete'>): ReadonlyMap<string, Field> {
  if (internal) return internalFields;
  return softDelete ? deletableFields : ordinaryFields;
}

/** Whether a field says that a record is deleted: one that a record has only then. */
export function isDeletionField({ softDelete }: Pick<Resource, 'softDelete'>, name: string): boolean {
  return softDelete && Object.hasOwn(DELETED, name);
}

function readAll(sources: Readonly<Record<string, JsonObject>>): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>();
  for (const [name, source] of Object.entries(sources)) {
    const field = parseField(source, { name, path: [name], builtIn: true }, (path, detail) => {
      throw new Error(`${path.join('.')}: ${detail}`);
    });
    if (field !== undefined) fields.set(name, field);
  }
  return fields;
}

const ordinaryFields = readAll(ORDINARY);
const deletableFields = readAll({ ...ORDINARY, ...DELETED });
const internalFields = readAll(INTERNAL);
