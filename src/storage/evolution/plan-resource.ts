import { type RawBuilder, sql } from 'kysely';
import type { Resource } from '../../resource/index.ts';
import { tableOf } from '../names.ts';
import { createIndexSql, createTableSql, dropIndexSql, isManaged, type WantedIndex, wantedIndexes } from './ddl.ts';
import { type Draft, type DraftStep, type Obstacle, toStep } from './plan.ts';
import { planField } from './plan-field.ts';
import type { Table, TableDialect } from './tables.ts';

/** Plans a resource that has no table. */
export function planNewTable(resource: Resource, dialect: TableDialect): Draft {
  const indexes = [...wantedIndexes(resource).values()].map((index) => createIndexStep(resource, index));
  const create = toStep(resource.name, { kind: 'createTable', reason: `${resource.name} is new`, text: createTableSql(resource, dialect) });
  return { resource: resource.name, steps: [create, ...indexes], refusals: [], obstacles: [] };
}

/** Plans a resource whose table is there. */
export function planTable(table: Table): Draft {
  const { resource, applied, wasAside } = table;
  const fields = new Map([...resource.fields.values()].map((field) => [field.name, planField(table, field)]));
  const drafts = [...fields.values()];
  const indexes = planIndexes(table, (field) => fields.get(field)?.after ?? sql`NULL`);
  const steps = [...drafts.flatMap((draft) => draft.steps), ...indexes.steps, ...keepFieldsAside(table)];
  const back = wasAside || applied === undefined;
  if (back)
    steps.unshift(
      toStep(resource.name, { kind: 'bringBack', reason: `${resource.name} comes back with the records that were kept of it` }),
    );
  const changes = drafts.flatMap((draft) => draft.changes);
  if (changes.length > 0 || (steps.length === 0 && applied?.hash !== resource.hash)) {
    steps.push(
      toStep(resource.name, { kind: 'redefine', reason: changes.join('; ') || 'the definition has changed; no table has to follow' }),
    );
  }
  return {
    resource: resource.name,
    steps,
    refusals: drafts.flatMap((draft) => draft.refusals),
    obstacles: [...drafts.flatMap((draft) => draft.obstacles), ...indexes.obstacles],
  };
}

/** Fields that were in force and are no longer defined: their columns stay. */
function keepFieldsAside({ resource, applied, actual }: Table): readonly DraftStep[] {
  const renamed = new Set(
    [...resource.fields.values()].map(({ name, renamedFrom }) => (actual.columns.has(name) ? undefined : renamedFrom)),
  );
  const gone = [...(applied?.fields.keys() ?? [])].filter((name) => !resource.fields.has(name) && !renamed.has(name));
  return gone.map((field) =>
    toStep(resource.name, {
      kind: 'keepAside',
      field,
      reason: `${resource.name}.${field} is no longer defined; its values are kept aside`,
    }),
  );
}

function planIndexes(
  table: Table,
  after: (field: string) => RawBuilder<unknown>,
): { steps: readonly DraftStep[]; obstacles: readonly Obstacle[] } {
  const { resource, actual } = table;
  const wanted = wantedIndexes(resource);
  const dropped = [...actual.indexes.values()].filter(({ name, ...index }) => isManaged(name) && !isSame(index, wanted.get(name)));
  const created = [...wanted.values()].filter(({ name, ...index }) => !isSame(actual.indexes.get(name), index));
  return {
    steps: [
      ...dropped.map(({ name, columns }) =>
        toStep(resource.name, {
          kind: 'dropIndex',
          reason: `no index on ${resource.name} (${columns.join(', ')}) is asked for`,
          text: dropIndexSql(name),
        }),
      ),
      ...created.map((index) => createIndexStep(resource, index)),
    ],
    obstacles: created.filter(({ unique }) => unique).map(({ fields }) => uniqueObstacle(resource, fields, after)),
  };
}

function createIndexStep(resource: Resource, index: WantedIndex): DraftStep {
  const what = index.unique ? 'is unique' : 'has an index';
  return toStep(resource.name, {
    kind: 'createIndex',
    reason: `${resource.name} (${index.fields.join(', ')}) ${what}`,
    text: createIndexSql(resource, index),
  });
}

type IndexShape = Pick<WantedIndex, 'unique' | 'columns'>;

function isSame(a: IndexShape | undefined, b: IndexShape | undefined): boolean {
  return a?.unique === b?.unique && a?.columns.join() === b?.columns.join();
}

/** Records that would share what is to be unique. One without a value shares it with nobody. */
function uniqueObstacle(resource: Resource, fields: readonly string[], after: (field: string) => RawBuilder<unknown>): Obstacle {
  const values = fields.map(after);
  const selected = sql.join(values.map((value, index) => sql`${value} AS ${sql.raw(`"v${index}"`)}`));
  const present = sql.join(
    values.map((value) => sql`${value} IS NOT NULL`),
    sql` AND `,
  );
  const grouping = sql.raw(values.map((_, index) => index + 1).join(', '));
  return {
    query: sql`SELECT ${selected}, count(*) AS "count" FROM ${tableOf(resource)} WHERE ${present} GROUP BY ${grouping} HAVING count(*) > 1 ORDER BY "count" DESC LIMIT 3`,
    refuse(rows) {
      if (rows.length === 0) return undefined;
      const shared = rows.map((row) => `${values.map((_, index) => show(row[`v${index}`])).join(', ')} (${Number(row['count'])})`);
      return `${resource.name} (${fields.join(', ')}) is to be unique, and several records have ${shared.join('; ')}; change those records first`;
    },
  };
}

function show(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value).slice(0, 80);
}
