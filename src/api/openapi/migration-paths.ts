import type { JsonObject } from '../../operators/index.ts';
import { adminOperation, arrayOf, envelope, objectOf, queryParameter, schemaRef } from './openapi-operation.ts';

const TEXT: JsonObject = { type: 'string' };
const COUNT: JsonObject = { type: 'integer', minimum: 0 };

const RISK: JsonObject = {
  type: 'string',
  enum: ['safe', 'needs-backfill', 'lossy', 'destructive', 'blocked'],
  description: [
    '`safe` changes no value; `needs-backfill` writes values and loses none; `lossy` loses values that cannot be converted;',
    '`destructive` permanently deletes values; `blocked` cannot be applied to the stored data.',
  ].join(' '),
};

const ABOUT: JsonObject = {
  resource: TEXT,
  kind: { type: 'string', description: 'Kind of the step: `addColumn`, `convert`, …, or `stay` if nothing is changed.' },
  risk: RISK,
  reason: { type: 'string', description: 'What the step does and why, or why it is blocked.' },
  field: TEXT,
};

/** Schemas of migrations. */
export const migrationSchemas: JsonObject = {
  'admin.StorageStep': objectOf(
    {
      ...ABOUT,
      from: { type: 'string', description: 'The previous name, for a rename.' },
      rows: { ...COUNT, description: 'Number of affected rows, if known; for a lossy step, the rows that lose a value.' },
      ids: { ...arrayOf(TEXT), description: 'Ids of records that would lose a value. At most five.' },
      rules: {
        ...arrayOf(objectOf({ policyId: TEXT, policy: TEXT, ruleId: TEXT, rule: TEXT })),
        description: 'Policy rules that use the changed field or resource.',
      },
      sql: arrayOf(TEXT),
    },
    ['field', 'from', 'rows', 'ids', 'rules'],
  ),
  'admin.StoragePlan': objectOf(
    {
      hash: { type: 'string', description: 'Hash for `bailiwick storage apply --allow`. Absent if the files have mistakes.' },
      steps: arrayOf(schemaRef('admin.StorageStep')),
      held: { ...arrayOf(TEXT), description: 'Resources that are not migrated.' },
      mistakes: { ...arrayOf(TEXT), description: 'Mistakes in the definition files. If there are any, there is no plan.' },
    },
    ['hash'],
  ),
  'admin.Evolution': objectOf({
    id: TEXT,
    at: { type: 'string', format: 'date-time' },
    actor: { type: 'string', description: '`start`, `dev`, `cli`, or the id of a user.' },
    planHash: TEXT,
    steps: arrayOf(objectOf(ABOUT, ['field'])),
    durationMs: COUNT,
  }),
};

/** The paths of migrations. */
export const migrationPaths: JsonObject = {
  '/storage/plan': {
    get: adminOperation('storage', 'storage.plan', {
      summary: 'Returns the migration plan for the current definition files. Applies nothing.',
      answers: { 200: { description: 'The plan.', schema: envelope(schemaRef('admin.StoragePlan')) } },
    }),
  },
  '/storage/history': {
    get: adminOperation('storage', 'storage.history', {
      summary: 'Lists the applied migrations, newest first.',
      parameters: [queryParameter('limit', 'Maximum number of migrations.', { type: 'integer', minimum: 1, maximum: 1000, default: 50 })],
      answers: {
        200: { description: 'The migrations.', schema: envelope(arrayOf(schemaRef('admin.Evolution')), { count: { type: 'integer' } }) },
      },
    }),
  },
};
