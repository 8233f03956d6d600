import { SetupError } from '../../errors.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { component, Input, OneOf, Type } from '../../schemas/index.ts';
import { listMigrations, planMigrationIn } from '../../storage/index.ts';
import { type AdminEndpoint, adminEndpoint } from '../admin/index.ts';
import { COUNT, COUNTED, limit, TEXT, TIMESTAMP } from '../schema-members.ts';

const ABOUT = {
  resource: TEXT,
  kind: Type.String({ description: 'Kind of the step: `addColumn`, `convert`, …, or `stay` if nothing is changed.' }),
  risk: OneOf(['safe', 'needs-backfill', 'lossy', 'destructive', 'blocked'], {
    description: [
      '`safe` changes no value; `needs-backfill` writes values and loses none; `lossy` loses values that cannot be converted;',
      '`destructive` permanently deletes values; `blocked` cannot be applied to the stored data.',
    ].join(' '),
  }),
  reason: Type.String({ description: 'What the step does and why, or why it is blocked.' }),
  field: Type.Optional(TEXT),
};

const STEP = component(
  'admin.StorageStep',
  Type.Object({
    ...ABOUT,
    from: Type.Optional(Type.String({ description: 'The previous name, for a rename.' })),
    rows: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Number of affected rows, if known; for a lossy step, the rows that lose a value.' }),
    ),
    ids: Type.Optional(Type.Array(TEXT, { description: 'Ids of records that would lose a value. At most five.' })),
    rules: Type.Optional(
      Type.Array(Type.Object({ policyId: TEXT, policy: TEXT, ruleId: TEXT, rule: TEXT }), {
        description: 'Policy rules that use the changed field or resource.',
      }),
    ),
    sql: Type.Array(TEXT),
  }),
);

const PLAN = component(
  'admin.StoragePlan',
  Type.Object({
    hash: Type.Optional(Type.String({ description: 'Hash for `bailiwick storage apply --allow`. Absent if there is no plan.' })),
    steps: Type.Array(STEP),
    held: Type.Array(TEXT, { description: 'Resources that are not migrated.' }),
    mistakes: Type.Array(TEXT, {
      description:
        'Mistakes in the definition files, or the reasons why this version cannot migrate the database. If there are any, there is no plan.',
    }),
  }),
);

const MIGRATION = component(
  'admin.Evolution',
  Type.Object({
    id: TEXT,
    at: TIMESTAMP,
    actor: Type.String({ description: '`start`, `dev`, `cli`, or the id of a user.' }),
    planHash: TEXT,
    steps: Type.Array(Type.Object(ABOUT)),
    durationMs: COUNT,
  }),
);

const EXAMPLE_STEP = { resource: 'Article', kind: 'addColumn', field: 'summary', risk: 'safe', reason: 'Article.summary is new' };
const EXAMPLE_HASH = '9bb91b5c1079d84e59083c44116241cdc34f7e1abb6ae624b4c92c2f64cec1ac';
const EXAMPLE_PLAN = {
  hash: EXAMPLE_HASH,
  steps: [{ ...EXAMPLE_STEP, sql: ['ALTER TABLE "Article" ADD COLUMN "summary" TEXT'] }],
  held: [],
  mistakes: [],
};
const EXAMPLE_MIGRATION = {
  id: '0198c0de-0000-7000-8000-00000000000e',
  at: '2026-01-31T09:00:00.000Z',
  actor: 'cli',
  planHash: EXAMPLE_HASH,
  steps: [EXAMPLE_STEP],
  durationMs: 12,
};

const PAGE = { max: 1000, fallback: 50, of: 'migrations' };

/** Endpoints of migrations: the plan of pending steps, and the history. */
export const migrationEndpoints: readonly AdminEndpoint[] = [
  adminEndpoint({
    method: 'GET',
    path: '/storage/plan',
    id: 'storage.plan',
    isAudited: false,
    tag: 'Admin storage',
    summary: 'Returns the migration plan for the current definition files. Applies nothing.',
    answers: { 200: { description: 'The plan.', schema: envelope(PLAN), example: toSuccess(EXAMPLE_PLAN) } },
    // The files may differ from the definitions in force.
    async handle({ tx, deps }) {
      try {
        return respond(200, toSuccess({ ...(await planMigrationIn(tx, deps.readDefinitions())), mistakes: [] }));
      } catch (error) {
        if (!(error instanceof SetupError)) throw error;
        return respond(200, toSuccess({ steps: [], held: [], mistakes: error.mistakes.length > 0 ? error.mistakes : [error.message] }));
      }
    },
  }),
  adminEndpoint({
    method: 'GET',
    path: '/storage/history',
    id: 'storage.history',
    isAudited: false,
    tag: 'Admin storage',
    summary: 'Lists the applied migrations, newest first.',
    query: Input({ limit: limit(PAGE) }),
    answers: {
      200: {
        description: 'The migrations.',
        schema: envelope(Type.Array(MIGRATION), COUNTED),
        example: toSuccess([EXAMPLE_MIGRATION], { count: 1 }),
      },
    },
    async handle({ tx, query }) {
      const migrations = await listMigrations(tx, query.limit ?? PAGE.fallback);
      return respond(200, toSuccess(migrations, { count: migrations.length }));
    },
  }),
];
