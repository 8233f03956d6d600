/**
 * Every action that a request can name, in one table. Rules speak of the first seven; the others decide as one of those.
 * Adding an action is a row here and a row in `pipeline.ts`. (`schema` has one there alone: it has a route of its own.)
 */

/** The actions that rules speak of. */
export const RULE_ACTIONS = ['create', 'read', 'update', 'delete', 'list', 'export', 'import'] as const;
/** An action that rules decide. */
export type RuleAction = (typeof RULE_ACTIONS)[number];

/** What a request can name, and what that takes. */
export interface Action {
  readonly name: ActionName;
  /** The action that rules decide. */
  readonly decides: RuleAction;
  /** One that has to be allowed besides. */
  readonly alsoDecides?: RuleAction;
  /** About deleted records: nothing to ask of a resource that keeps none. */
  readonly ofDeleted?: true;
  /** Members that its JSON body may have at `POST /api/:resource/:action`. */
  readonly takes: readonly ActionInput[];
  /** One sentence for the reference. */
  readonly summary: string;
}

/** The name of an action. */
export type ActionName = RuleAction | 'createIfNotExists' | 'updateIfExists' | 'restore' | 'listDeleted' | 'schema';
/** A member of an action's JSON body. */
export type ActionInput =
  | 'id'
  | 'data'
  | 'filter'
  | 'where'
  | 'sort'
  | 'limit'
  | 'offset'
  | 'cursor'
  | 'total'
  | 'fields'
  | 'expand'
  | 'ifMatch';

const table: readonly Action[] = [
  { name: 'create', decides: 'create', takes: ['data'], summary: 'Creates a record from `data`; the id is generated.' },
  { name: 'read', decides: 'read', takes: ['id', 'fields', 'expand'], summary: 'Reads one record.' },
  { name: 'update', decides: 'update', takes: ['id', 'data', 'ifMatch'], summary: 'Changes the fields given in `data`, and no others.' },
  { name: 'delete', decides: 'delete', takes: ['id', 'ifMatch'], summary: 'Deletes one record.' },
  {
    name: 'list',
    decides: 'list',
    takes: ['where', 'sort', 'limit', 'offset', 'cursor', 'total', 'fields', 'expand'],
    summary: 'Lists the records that the caller may list.',
  },
  {
    name: 'export',
    decides: 'export',
    takes: ['where', 'sort', 'limit', 'offset', 'cursor', 'total', 'fields'],
    summary: 'Lists the records that the caller may export, in larger pages; with `format`, all of them as a file.',
  },
  {
    name: 'import',
    decides: 'import',
    takes: ['data'],
    summary: 'Creates the records of the array `data`, all or none, each decided by itself; or those of a file, of any length.',
  },
  {
    name: 'createIfNotExists',
    decides: 'create',
    alsoDecides: 'read',
    takes: ['filter', 'data'],
    summary: 'Creates a record from `data` only when no record that the caller may read matches `filter`.',
  },
  {
    name: 'updateIfExists',
    decides: 'update',
    alsoDecides: 'read',
    takes: ['filter', 'data'],
    summary: 'Updates the record that matches `filter`, among those that the caller may read; changes nothing when none or several match.',
  },
  {
    name: 'restore',
    decides: 'delete',
    ofDeleted: true,
    takes: ['id', 'ifMatch'],
    summary: 'Brings back a deleted record, and those that went with it, where the resource keeps them.',
  },
  {
    name: 'listDeleted',
    decides: 'list',
    alsoDecides: 'delete',
    ofDeleted: true,
    takes: ['where', 'sort', 'limit', 'offset', 'cursor', 'total', 'fields', 'expand'],
    summary: 'Lists the deleted records that the caller may both list and delete, the newest deletion first.',
  },
];

/** By name; a Map, so that `constructor` is not an action. */
export const ACTIONS: ReadonlyMap<string, Action> = new Map(table.map((action) => [action.name, Object.freeze(action)]));

/** Describes a resource: an action of batches, and a route of its own. */
export const SCHEMA_ACTION: Action = Object.freeze({
  name: 'schema',
  decides: 'read',
  takes: [],
  summary: 'Describes the fields of the resource, to callers who may read or list it.',
});

/** The actions of a batch, by name. */
export const BATCH_ACTIONS: ReadonlyMap<string, Action> = new Map([...ACTIONS, [SCHEMA_ACTION.name, SCHEMA_ACTION]]);

/** Those that one decision answers: what can be asked about ahead. */
export const ASKED_ACTIONS: readonly ActionName[] = table.filter(({ alsoDecides }) => alsoDecides === undefined).map(({ name }) => name);
