/** The responses of the record endpoints. */
import type { ActionName } from '../../actions.ts';
import { type Answer, type Answers, envelope, ISSUE, NO_CONTENT, PROBLEM } from '../../request/index.ts';
import type { Resource } from '../../resources/index.ts';
import { component, type Schema, Type } from '../../schemas/index.ts';
import { COUNT, ID, lineByLine, MESSAGE, PAGED, TEXT } from '../schema-members.ts';
import type { DescribedResource } from './described-resource.ts';
import type { RecordExamples } from './record-examples.ts';
import { RESOURCE_DESCRIPTION, resourceDescriptionExample } from './resource-description.ts';

const WITH_FIELDS = 'With `fields`, a record has only its id and these fields';
const UNREAD = 'its id and version alone if the caller may not read it after the change';

/** The data of the response for a changed record that the caller may not read. */
const ID_AND_VERSION = component(
  'api.ChangedRecord',
  Type.Object(
    { id: ID, version: Type.Integer() },
    { additionalProperties: false, description: 'A record that the caller may not read after the change.' },
  ),
);

/** The member `updated` of `updateIfExists`. */
export const UPDATED = Type.Boolean({ description: 'False if no record matched; `data` is then null.' });

/** Returns the successful responses of an action. */
export function answersOf(action: ActionName, described: DescribedResource): Answers {
  const { resource, forms, examples } = described;
  const { record } = forms;
  const one = (description: string, data: Schema = record): Answer => ({
    description,
    schema: envelope(data),
    example: { success: true, data: examples.record },
    headers: ['X-Decision-Id', 'ETag'],
  });
  switch (action) {
    case 'create':
      return { 201: toCreated(one('The new record.')) };
    case 'read':
      return { 200: one(`The record. ${WITH_FIELDS}.`) };
    case 'update':
      return { 200: one(`The changed record; ${UNREAD}.`, Type.Union([record, ID_AND_VERSION])) };
    case 'delete':
      return { 200: toDeletion(doneWith('deleted', described)) };
    case 'restore':
      return { 200: doneWith('restored', described) };
    case 'createIfNotExists':
      return createIfNotExistsAnswers(one, record);
    case 'updateIfExists':
      return { 200: updateIfExistsAnswer(one(`The changed record, or null if none matched; ${UNREAD}.`), record) };
    case 'import':
      return importAnswers(resource.name, examples);
    case 'export':
      return { 200: exportOf(described) };
    case 'list':
    case 'listDeleted':
      return { 200: pageOf(described) };
    case 'schema':
      return { 200: descriptionOf(resource) };
    default:
      return action satisfies never;
  }
}

/** Returns the successful responses of `GET /api/:resource/:id`. The action `read` of a POST has no 304. */
export function readAnswers(described: DescribedResource): Answers {
  const description = 'The record has not changed. Requests with `fields` or `expand` get no 304.';
  return { ...answersOf('read', described), 304: { description, schema: NO_CONTENT, headers: ['X-Decision-Id', 'ETag'] } };
}

function toCreated(answer: Answer): Answer {
  return { ...answer, headers: ['X-Decision-Id', 'ETag', 'Location'] };
}

function createIfNotExistsAnswers(one: (description: string) => Answer, record: Schema): Answers {
  const withCreated = (answer: Answer, created: boolean): Answer => ({
    ...answer,
    schema: envelope(record, { created: Type.Unsafe<boolean>({ const: created }) }),
    example: { ...(answer.example as object), created },
  });
  return { 200: withCreated(one('The matching record.'), false), 201: withCreated(toCreated(one('The new record.')), true) };
}

function updateIfExistsAnswer(answer: Answer, record: Schema): Answer {
  return {
    ...answer,
    schema: envelope(Type.Union([record, ID_AND_VERSION, Type.Null()]), {
      updated: UPDATED,
    }),
    example: { ...(answer.example as object), updated: true },
  };
}

function doneWith(done: 'deleted' | 'restored', { resource: { name }, examples: { id } }: DescribedResource): Answer {
  return {
    description: `The record was ${done}.`,
    schema: envelope(Type.Object({ id: ID }), MESSAGE),
    example: { success: true, data: { id }, message: `${done} ${name} ${id}` },
    headers: ['X-Decision-Id'],
  };
}

const REFERENCING = {
  resource: TEXT,
  field: Type.String({ description: 'The field that refers to the deleted records.' }),
  count: Type.Integer({ minimum: 1, description: 'Number of the records that the caller may read.' }),
  ids: Type.Array(ID, { maxItems: 10, description: 'The ids of some of these records.' }),
} as const;
const PERMANENT = Type.Boolean({ description: 'False if the deletion keeps the record as a soft-deleted one.' });

/** The data of the response to a dry run of a deletion. */
export const DELETION_PREVIEW = component(
  'api.DeletionPreview',
  Type.Object(
    {
      id: ID,
      dryRun: Type.Unsafe<true>({ const: true }),
      permanent: PERMANENT,
      deleted: Type.Array(Type.Object({ ...REFERENCING, permanent: PERMANENT }), { description: 'Records that would be deleted too.' }),
      cleared: Type.Array(Type.Object(REFERENCING), { description: 'Records whose reference would be removed.' }),
      refused: Type.Array(Type.Object({ ...REFERENCING, code: TEXT, reason: Type.Optional(TEXT) }), {
        description: 'Records that make the deletion fail.',
      }),
      problem: Type.Optional(PROBLEM),
    },
    {
      description:
        'What a deletion would do. Contains only records that the caller may read, and no references by write-only fields. `problem` is the problem with which the deletion fails; absent if it succeeds.',
    },
  ),
);

/** Adds the response to a dry run. */
function toDeletion(answer: Answer): Answer {
  return {
    ...answer,
    description: `${answer.description} With \`dryRun\`, what the deletion would do.`,
    schema: envelope(Type.Union([DELETION_PREVIEW, Type.Object({ id: ID })]), MESSAGE),
  };
}

/** The members beside the records of a page. */
export const PAGE_MEMBERS = {
  ...PAGED,
  total: Type.Optional(Type.Integer({ minimum: 0, description: 'Number of all matching records, if requested.' })),
  warnings: Type.Optional(Type.Array(TEXT)),
};

function descriptionOf({ name, description }: Resource): Answer {
  return {
    description: 'Fields and metadata.',
    schema: envelope(RESOURCE_DESCRIPTION),
    example: { success: true, data: resourceDescriptionExample(name, description) },
    headers: ['X-Decision-Id'],
  };
}

function pageOf({ forms, examples }: DescribedResource): Answer {
  return {
    description: `A page of the records that the caller may see. ${WITH_FIELDS}.`,
    schema: envelope(Type.Array(forms.record), PAGE_MEMBERS),
    example: { success: true, data: [examples.record], count: 1 },
    headers: ['X-Decision-Id'],
  };
}

/** Returns the page of an export without `format`, and the files with one: `format=json` is a list without the members of a page. */
function exportOf(described: DescribedResource): Answer {
  const { record } = described.forms;
  const files = { 'application/json': Type.Array(record), 'application/x-ndjson': lineByLine(record), 'text/csv': TEXT };
  return { ...pageOf(described), files };
}

const REJECTION = component(
  'api.Rejection',
  Type.Object({
    row: Type.Integer({ description: 'Line, row or position in the file, from 1. The header of a CSV file is row 1.' }),
    code: TEXT,
    detail: TEXT,
    errors: Type.Optional(Type.Array(ISSUE)),
    decisionId: Type.Optional(TEXT),
  }),
);

const IMPORT_COUNTS = component(
  'api.ImportCounts',
  Type.Object({
    imported: COUNT,
    updated: COUNT,
    unchanged: COUNT,
    rejected: COUNT,
    dryRun: Type.Optional(Type.Unsafe<true>({ const: true })),
  }),
);

const IMPORT_PROGRESS = component(
  'api.ImportProgress',
  Type.Object(
    {
      progress: Type.Object({
        imported: COUNT,
        updated: COUNT,
        unchanged: COUNT,
        rejected: COUNT,
        row: Type.Integer({ description: 'The last row of the batch.' }),
      }),
      decisionId: Type.Optional(TEXT),
    },
    { description: 'The counts after a batch of rows that was committed, with `progress=true`.' },
  ),
);

function importAnswers(name: string, { id }: RecordExamples): Answers {
  const counts = { imported: 1, updated: 0, unchanged: 0, rejected: 0 };
  return {
    200: {
      description:
        'The result of an imported file. As NDJSON: each rejection when it happens and, with `progress=true`, the counts after each batch; then the summary, or the problem that stopped the import.',
      schema: envelope(IMPORT_COUNTS, { rejections: Type.Optional(Type.Array(REJECTION)), ...MESSAGE }),
      example: { success: true, data: counts, rejections: [], message: '1 imported, 0 updated, 0 unchanged, 0 rejected' },
      files: { 'application/x-ndjson': lineByLine(Type.Union([REJECTION, IMPORT_PROGRESS])) },
      headers: ['X-Decision-Id'],
    },
    201: {
      description: 'Ids of the new records.',
      schema: envelope(Type.Array(ID), { count: COUNT, ...MESSAGE }),
      example: { success: true, data: [id], count: 1, message: `imported 1 ${name} records` },
      headers: ['X-Decision-Id'],
    },
  };
}
