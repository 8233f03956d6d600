/**
 * Every action that a request can name. Rules name only the actions of RULE_ACTIONS; every action is decided as one or two of them.
 * To add an action, add a row to `table` and a row in `pipeline/pipeline.ts`.
 */

/** The actions that rules can name. */
export const RULE_ACTIONS = ['create', 'read', 'update', 'delete', 'list', 'export', 'import'] as const;
/** An action that rules decide. */
export type RuleAction = (typeof RULE_ACTIONS)[number];

/** An action of the API. */
export interface Action {
  readonly name: ActionName;
  /** The rule action that a request for this action must be allowed. */
  readonly decides: RuleAction;
  /** A second rule action that must also be allowed. */
  readonly alsoDecides?: RuleAction;
  /** Set if the action is about soft-deleted records, so that it requires a resource with soft deletes. */
  readonly ofDeleted?: true;
  /** Members of the JSON body of `POST /api/:resource/:action`. */
  readonly takes: readonly ActionInput[];
  /** One sentence about the action, for the reference documentation. */
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
  | 'ifMatch'
  | 'dryRun';

const table: readonly Action[] = [
  { name: 'create', decides: 'create', takes: ['data'], summary: 'Creates a record from `data`; the id is generated.' },
  { name: 'read', decides: 'read', takes: ['id', 'fields', 'expand'], summary: 'Reads one record.' },
  {
    name: 'update',
    decides: 'update',
    takes: ['id', 'data', 'ifMatch'],
    summary: 'Changes the fields given in `data`; other fields keep their values.',
  },
  {
    name: 'delete',
    decides: 'delete',
    takes: ['id', 'ifMatch', 'dryRun'],
    summary: 'Deletes one record; with `dryRun`, only returns what the deletion would delete and change.',
  },
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
    summary: 'Creates the records of the array `data`, all or none, or those of a file of any length. Each record is decided separately.',
  },
  {
    name: 'createIfNotExists',
    decides: 'create',
    alsoDecides: 'read',
    takes: ['filter', 'data'],
    summary: 'Creates a record from `data` if no record that the caller may read matches `filter`.',
  },
  {
    name: 'updateIfExists',
    decides: 'update',
    alsoDecides: 'read',
    takes: ['filter', 'data'],
    summary: 'Updates the record that matches `filter`, among those that the caller may read; changes nothing if none or several match.',
  },
  {
    name: 'restore',
    decides: 'delete',
    ofDeleted: true,
    takes: ['id', 'ifMatch'],
    summary: 'Restores a soft-deleted record and the records that its deletion cascaded to.',
  },
  {
    name: 'listDeleted',
    decides: 'list',
    alsoDecides: 'delete',
    ofDeleted: true,
    takes: ['where', 'sort', 'limit', 'offset', 'cursor', 'total', 'fields', 'expand'],
    summary: 'Lists the soft-deleted records that the caller may both list and delete, latest deletion first.',
  },
];

/** The actions by name. A Map, so that `constructor` is not an action. */
export const ACTIONS: ReadonlyMap<string, Action> = new Map(table.map((action) => [action.name, Object.freeze(action)]));

/** Rule actions whose requests have data. For other actions, `request.data` has no value. */
export const SENDS_DATA: ReadonlySet<string> = new Set(table.filter(({ takes }) => takes.includes('data')).map(({ decides }) => decides));

/** The action that describes a resource: available in batches and at a route of its own. */
export const SCHEMA_ACTION: Action = Object.freeze({
  name: 'schema',
  decides: 'read',
  takes: [],
  summary: 'Describes the fields of the resource, to callers who may read or list it.',
});

/** The actions of a batch, by name. */
export const BATCH_ACTIONS: ReadonlyMap<string, Action> = new Map([...ACTIONS, [SCHEMA_ACTION.name, SCHEMA_ACTION]]);

/** The actions that take a single decision, so that their outcome can be predicted. */
export const SINGLE_DECISION_ACTIONS: readonly ActionName[] = table
  .filter(({ alsoDecides }) => alsoDecides === undefined)
  .map(({ name }) => name);
