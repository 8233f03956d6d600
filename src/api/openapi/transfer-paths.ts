import type { ActionName } from '../../actions.ts';
import type { JsonObject } from '../../operators/index.ts';
import { type AnswerParts, arrayOf, objectOf, queryParameter, schemaRef, success } from './openapi-operation.ts';

/** The files that an action accepts and returns. */
export interface TransferDescriptions {
  readonly parameters: readonly JsonObject[];
  /** Additional members of the JSON body. */
  readonly members: JsonObject;
  /** Schema by media type. */
  readonly bodies: Readonly<Record<string, JsonObject>>;
  /** Additional responses. */
  readonly answers: Readonly<Record<number, AnswerParts>>;
  /** Alternatives to the 200 response: schema by media type. */
  readonly files: Readonly<Record<string, JsonObject>>;
}

const choice = (...values: readonly string[]): JsonObject => ({ type: 'string', enum: values });

const HOW: Readonly<Record<string, readonly [description: string, schema: JsonObject]>> = {
  mode: ['With `upsert`, a row changes the stored record with the same key.', choice('create', 'upsert')],
  key: ['The unique field that identifies records, for `upsert`.', { type: 'string' }],
  dryRun: ['Decide and validate every row, but store nothing.', { type: 'boolean' }],
  onError: ['After a rejected row: stop, or skip it and continue.', choice('stop', 'skip')],
  atomic: ['Import all rows or none.', { type: 'boolean' }],
};

const CELLS: readonly JsonObject[] = [
  queryParameter('delimiter', 'Delimiter of CSV.', choice(',', ';', 'tab')),
  queryParameter('escape', 'CSV: prefix texts with an apostrophe that a spreadsheet would run as formulas.', {
    type: 'boolean',
    default: true,
  }),
];

/** Returns the descriptions of files for imports and exports; undefined for other actions. */
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
          'The result of an imported file. As NDJSON: each rejection when it happens, then the summary, or the problem that stopped the import.',
        schema: success(schemaRef('api.ImportCounts'), {
          rejections: arrayOf(schemaRef('api.Rejection')),
          message: { type: 'string' },
        }),
        headers: ['X-Decision-Id'],
      },
    },
    files: { 'application/x-ndjson': lineByLine(schemaRef('api.Rejection')) },
  };
}

/** Returns the schema of a row: a new record; with `mode=upsert`, the key and the changed fields; or an exported record. */
export function importRowSchema(name: string): JsonObject {
  return {
    anyOf: [schemaRef(`${name}.create`), schemaRef(`${name}.row`), schemaRef(`${name}.shown`)],
    description: 'A new record; with `mode=upsert`, the key and the changed fields. Fields that the service sets are ignored.',
  };
}

function exportParts(name: string): TransferDescriptions {
  return {
    parameters: [queryParameter('format', 'Return a file with all records in this format.', choice('ndjson', 'csv', 'json')), ...CELLS],
    members: {},
    bodies: {},
    answers: {},
    files: { 'application/x-ndjson': lineByLine(schemaRef(`${name}.shown`)), 'text/csv': { type: 'string' } },
  };
}

/** Returns the schema of an NDJSON text whose lines match `schema`. OpenAPI has no type for NDJSON. */
export function lineByLine(schema: JsonObject): JsonObject {
  return { type: 'string', contentMediaType: 'application/x-ndjson', contentSchema: schema };
}

/** Schemas of imports, for all resources. */
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
      row: { type: 'integer', description: 'Line, row or position in the file, from 1. The header of a CSV file is row 1.' },
      code: { type: 'string' },
      detail: { type: 'string' },
      errors: arrayOf(schemaRef('api.Issue')),
      decisionId: { type: 'string' },
    },
    ['errors', 'decisionId'],
  ),
};
