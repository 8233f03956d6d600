import type { JsonObject } from '../../operators/index.ts';
import { adminOperation, arrayOf, envelope, objectOf, queryParameter, schemaRef } from './openapi-operation.ts';

const TEXT: JsonObject = { type: 'string' };
const COUNT: JsonObject = { type: 'integer', minimum: 0 };

const RISK: JsonObject = {
  type: 'string',
  enum: ['safe', 'needs-backfill', 'lossy', 'destructive', 'blocked'],
  description: [
    '`safe` touches no value; `needs-backfill` writes values and loses none; `lossy` leaves values behind that cannot follow;',
    '`destructive` deletes them for good; `blocked` cannot be done as things are.',
  ].join(' '),
};

const ABOUT: JsonObject = {
  resource: TEXT,
  kind: { type: 'string', description: 'What is done: `addColumn`, `convert`, … or `stay`, where nothing is.' },
  risk: RISK,
  reason: { type: 'string', description: 'What is done and why, or what stands in the way.' },
  field: TEXT,
};

/** Steps by which tables follow definitions. */
export const storageSchemas: JsonObject = {
  'admin.StorageStep': objectOf(
    {
      ...ABOUT,
      from: { type: 'string', description: 'Of a rename, the name before.' },
      rows: { ...COUNT, description: 'Rows concerned, where they were counted; of a lossy step, those that lose a value.' },
      ids: { ...arrayOf(TEXT), description: 'Records that would lose a value; the first five.' },
      rules: {
        ...arrayOf(objectOf({ policyId: TEXT, policy: TEXT, ruleId: TEXT, rule: TEXT })),
        description: 'Rules of policies that name what the step is about.',
      },
      sql: arrayOf(TEXT),
    },
    ['field', 'from', 'rows', 'ids', 'rules'],
  ),
  'admin.StoragePlan': objectOf(
    {
      hash: { type: 'string', description: 'What `bailiwick storage apply --allow` takes. Absent where the files have mistakes.' },
      steps: arrayOf(schemaRef('admin.StorageStep')),
      held: { ...arrayOf(TEXT), description: 'Resources that stay as they were.' },
      mistakes: { ...arrayOf(TEXT), description: 'Mistakes in the definition files; then there is no plan.' },
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

/** Where storage is asked about. */
export const storagePaths: JsonObject = {
  '/storage/plan': {
    get: adminOperation('storage', 'storage.plan', {
      summary: 'What would have to be done for tables to follow the definition files as they are now. Does none of it.',
      answers: { 200: { description: 'The plan.', schema: envelope(schemaRef('admin.StoragePlan')) } },
    }),
  },
  '/storage/history': {
    get: adminOperation('storage', 'storage.history', {
      summary: 'What was done to tables, the newest first.',
      parameters: [queryParameter('limit', 'How many.', { type: 'integer', minimum: 1, maximum: 1000, default: 50 })],
      answers: {
        200: { description: 'What was done.', schema: envelope(arrayOf(schemaRef('admin.Evolution')), { count: { type: 'integer' } }) },
      },
    }),
  },
};
