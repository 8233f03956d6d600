import type { ActionName } from '../../actions.ts';
import type { JsonObject } from '../../operators/index.ts';
import { type AnswerParts, arrayOf, envelope, objectOf, queryParameter, schemaRef } from './openapi-operation.ts';

/** What an action takes and answers beside its JSON object: files. */
export interface TransferDescriptions {
  readonly parameters: readonly JsonObject[];
  /** Members of its JSON object beside those of every action. */
  readonly members: JsonObject;
  /** Schema by media type. */
  readonly bodies: Readonly<Record<string, JsonObject>>;
  /** Answers that it has besides. */
  readonly answers: Readonly<Record<number, AnswerParts>>;
  /** Schema by media type of what an answer of 200 may be, too. */
  readonly files: Readonly<Record<string, JsonObject>>;
}

const choice = (...values: readonly string[]): JsonObject => ({ type: 'string', enum: values });

const HOW: Readonly<Record<string, readonly [description: string, schema: JsonObject]>> = {
  mode: ['upsert: a row whose key a stored record has changes that record.', choice('create', 'upsert')],
  key: ['The unique field that tells records apart, for upsert.', { type: 'string' }],
  dryRun: ['Decide and check everything, store nothing.', { type: 'boolean' }],
  onError: ['What becomes of the rows behind one that is rejected.', choice('stop', 'skip')],
  atomic: ['All rows or none.', { type: 'boolean' }],
};

const CELLS: readonly JsonObject[] = [
  queryParameter('delimiter', 'Of CSV: what stands between cells.', choice(',', ';', 'tab')),
  queryParameter('escape', 'Of CSV: whether an apostrophe keeps spreadsheets from running a text.', { type: 'boolean', default: true }),
];

/** Files that imports take and exports give; nothing for other actions. */
export function transferParts(name: string, action: ActionName): TransferDescriptions | undefined {
  if (action === 'import') return importParts(name);
  return action === 'export' ? exportParts(name) : undefined;
}

function importParts(name: string): TransferDescriptions {
  return {
    parameters: [...Object.entries(HOW).map(([parameter, [about, schema]]) => queryParameter(parameter, about, schema)), ...CELLS],
    members: Object.fromEntries(Object.entries(HOW).map(([member, [description, schema]]) => [member, { ...schema, description }])),
    bodies: {
      'application/json': arrayOf(importRowSchema(name)),
      'application/x-ndjson': lineByLine(importRowSchema(name)),
      'text/csv': { type: 'string' },
    },
    answers: {
      200: {
        description:
          'What became of the rows of a file. As NDJSON: each rejection as it happens, then the summary, or the problem that stopped it.',
        schema: envelope(schemaRef('api.ImportCounts'), { rejections: arrayOf(schemaRef('api.Rejection')), message: { type: 'string' } }),
        headers: ['X-Decision-Id'],
      },
    },
    files: { 'application/x-ndjson': lineByLine(schemaRef('api.Rejection')) },
  };
}

/** A row to import: a new record, with `mode=upsert` the key and what is to change, or a record as an export gives it. */
export function importRowSchema(name: string): JsonObject {
  return {
    anyOf: [schemaRef(`${name}.create`), schemaRef(`${name}.row`), schemaRef(`${name}.shown`)],
    description: 'A new record; with mode=upsert, the key and what is to change. What the service sets by itself is passed over.',
  };
}

function exportParts(name: string): TransferDescriptions {
  return {
    parameters: [queryParameter('format', 'A file of all records, where given.', choice('ndjson', 'csv', 'json')), ...CELLS],
    members: {},
    bodies: {},
    answers: {},
    files: { 'application/x-ndjson': lineByLine(schemaRef(`${name}.shown`)), 'text/csv': { type: 'string' } },
  };
}

/** A text whose lines are JSON; OpenAPI has no words of its own for that. */
export function lineByLine(schema: JsonObject): JsonObject {
  return { type: 'string', contentMediaType: 'application/x-ndjson', contentSchema: schema };
}

/** Schemas that imports of every resource share. */
export const TRANSFER_SCHEMAS: JsonObject = {
  'api.ImportCounts': objectOf(
    {
      imported: { type: 'integer' },
      updated: { type: 'integer' },
      unchanged: { type: 'integer' },
      rejected: { type: 'integer' },
      dryRun: { const: true },
    },
    ['dryRun'],
  ),
  'api.Rejection': objectOf(
    {
      row: { type: 'integer', description: 'Line, row or place in the file, from 1; the header of CSV is row 1.' },
      code: { type: 'string' },
      detail: { type: 'string' },
      errors: arrayOf(schemaRef('api.Issue')),
      decisionId: { type: 'string' },
    },
    ['errors', 'decisionId'],
  ),
};
