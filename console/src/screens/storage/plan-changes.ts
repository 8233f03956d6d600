/** The steps of a migration as a diff of the tables. */
import type { Schemas } from '../../api/client.ts';
import { sentence } from '../../texts/sentence.ts';

/** A step of a migration. */
export type Step = Schemas['admin.StorageStep'];

/** The change of a table or of a part of it. */
export type Change = 'added' | 'removed' | 'changed' | 'kept';

/** The kinds of steps that add or take away. The others change what exists. An archived column no longer belongs to the resource. */
const CHANGES: Readonly<Record<string, Change>> = {
  createTable: 'added',
  addColumn: 'added',
  createIndex: 'added',
  bringBack: 'added',
  keepAside: 'removed',
  hide: 'removed',
  dropTable: 'removed',
  dropColumn: 'removed',
  dropIndex: 'removed',
  dropRecords: 'removed',
  stay: 'kept',
};

/** The kinds of steps on indexes, which belong to no field. */
const OF_INDEXES: ReadonlySet<string> = new Set(['createIndex', 'dropIndex']);

/** The part of a resource that a step changes. */
export type PlanSubject = 'field' | 'index' | 'table';

/** The steps of one resource. */
export interface ResourceChange {
  readonly resource: string;
  readonly change: Change;
  readonly steps: readonly Step[];
}

/** Returns the change that a step makes. */
export function changeOf({ kind }: Pick<Step, 'kind'>): Change {
  return CHANGES[kind] ?? 'changed';
}

/** Returns the part of the resource that a step changes. */
export function partOf({ kind, field }: Pick<Step, 'kind' | 'field'>): PlanSubject {
  if (OF_INDEXES.has(kind)) return 'index';
  return field === undefined ? 'table' : 'field';
}

/** The resource of steps on the whole database, such as a backup. */
const ALL_RESOURCES = '*';

/** Returns the sentence of a performed step. Most reasons begin with the name of the resource or field, which is then not repeated. */
export function describeStep({ resource, field, reason }: Pick<Step, 'resource' | 'field' | 'reason'>): string {
  const name = field === undefined ? resource : `${resource}.${field}`;
  return name === ALL_RESOURCES || reason.split(/[\s,:;()]+/).some((word) => word === name) ? reason : sentence`${name}: ${reason}`;
}

/** Returns the steps by resource, in their order. A resource is added or removed if its table is. */
export function toResourceChanges(steps: readonly Step[]): readonly ResourceChange[] {
  return [...Map.groupBy(steps, ({ resource }) => resource)].map(([resource, own]) => {
    const ofTable = own.filter((step) => partOf(step) === 'table').map(changeOf);
    const change = ofTable.find((each) => each === 'added' || each === 'removed') ?? (own.every(isKept) ? 'kept' : 'changed');
    return { resource, change, steps: own };
  });
}

function isKept(step: Step): boolean {
  return changeOf(step) === 'kept';
}
