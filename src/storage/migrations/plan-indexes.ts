import type { Resource } from '../../resources/index.ts';
import { createIndexSql, dropIndexSql, isManagedIndex, type WantedIndex, wantedIndexes } from './ddl.ts';
import { createStep, type DraftStep, type Precondition } from './migration-plan.ts';
import { uniquePrecondition, type ValueAfter } from './preconditions.ts';
import type { ActualIndex, TableDialect, TableState } from './table-state.ts';

/** What the indexes of a table ask for. */
export interface IndexDraft {
  readonly steps: readonly DraftStep[];
  readonly obstacles: readonly Precondition[];
}

/** Which columns will not be what they were. */
export interface IndexContext {
  /** Columns that are put aside or come back: what indexes them would go with them. */
  readonly columns: ReadonlySet<string>;
  readonly after: ValueAfter;
}

/** Plans indexes that are missing, and those of ours that nobody asks for any more. */
export function planIndexes({ resource, actual, ...table }: TableState, { columns, after }: IndexContext): IndexDraft {
  const wanted = wantedIndexes(resource, table.dialect);
  const stays = (index: ActualIndex): boolean => isSame(index, wanted.get(index.name)) && !index.columns.some((name) => columns.has(name));
  const dropped = [...actual.indexes.values()].filter((index) => isManagedIndex(index.name) && !stays(index));
  const gone = new Set(dropped.map(({ name }) => name));
  const created = [...wanted.values()].filter(({ name }) => !actual.indexes.has(name) || gone.has(name));
  return {
    steps: [
      ...dropped.map((index) => dropIndexStep(resource, index)),
      ...created.map((index) => createIndexStep(resource, index, table.dialect)),
    ],
    obstacles: created.filter(({ unique }) => unique).map((index) => uniquePrecondition({ resource, actual, ...table }, index, after)),
  };
}

/** A step that makes an index. */
export function createIndexStep(resource: Resource, index: WantedIndex, dialect: TableDialect): DraftStep {
  const where =
    index.where === undefined
      ? ''
      : ` where ${Object.entries(index.where)
          .map(([name, value]) => `${name} is ${JSON.stringify(value)}`)
          .join(' and ')}`;
  const what = index.unique ? 'is unique' : 'has an index';
  const of = index.of === undefined ? '' : ` among the ${index.of}`;
  return createStep(resource.name, {
    kind: 'createIndex',
    reason: `${resource.name} (${index.fields.join(', ')}) ${what}${of}${where}`,
    texts: [createIndexSql(resource, index, dialect)],
  });
}

function dropIndexStep(resource: Resource, { name, columns }: ActualIndex): DraftStep {
  return createStep(resource.name, {
    kind: 'dropIndex',
    reason: `no index on ${resource.name} (${columns.join(', ')}) is asked for`,
    texts: [dropIndexSql(name)],
  });
}

function isPartial({ where, of }: WantedIndex): boolean {
  return where !== undefined || of !== undefined;
}

/** Which rows a partial index holds is in its name. */
function isSame(actual: ActualIndex, wanted: WantedIndex | undefined): boolean {
  if (wanted === undefined || actual.unique !== wanted.unique || actual.partial !== isPartial(wanted)) return false;
  return actual.columns.join() === wanted.columns.join();
}
