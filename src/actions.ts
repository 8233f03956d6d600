/**
 * Every action that a request can name. Rules name only the actions of RULE_ACTIONS; every action is decided as one or two of them.
 * "Where to make a change" in ARCHITECTURE.md lists what a new action needs beside its row here.
 */

interface RuleActionRow {
  readonly name: string;
  /** The records that a request is about: a new one, a stored one, or all that meet the conditions of the rules. */
  readonly subject: 'new' | 'one' | 'many';
  /** True if the action changes records. */
  readonly writes: boolean;
}

const ruleTable = [
  { name: 'create', subject: 'new', writes: true },
  { name: 'read', subject: 'one', writes: false },
  { name: 'update', subject: 'one', writes: true },
  { name: 'delete', subject: 'one', writes: true },
  { name: 'list', subject: 'many', writes: false },
  { name: 'export', subject: 'many', writes: false },
  { name: 'import', subject: 'new', writes: true },
] as const satisfies readonly RuleActionRow[];

/** An action that rules decide. */
export type RuleAction = (typeof ruleTable)[number]['name'];

/** The actions that rules can name. */
export const RULE_ACTIONS: readonly RuleAction[] = namesWhere(() => true);
/** Rule actions that change records. */
export const CHANGES_RECORDS: ReadonlySet<string> = new Set(namesWhere(({ writes }) => writes));
/** Rule actions that create a record. */
export const CREATES_RECORD: ReadonlySet<string> = new Set(namesWhere(({ subject }) => subject === 'new'));
/** Rule actions that are decided on one stored record. */
export const DECIDED_ON_RECORD: ReadonlySet<string> = new Set(namesWhere(({ subject }) => subject === 'one'));
/** Rule actions that select the records of a resource. */
export const SELECTS_RECORDS: ReadonlySet<string> = new Set(namesWhere(({ subject }) => subject === 'many'));

/** Returns true if a rule with this action applies to requests that select the records of a resource. `*` stands for every rule action. */
export function canSelectRecords(action: string): boolean {
  return action === '*' || SELECTS_RECORDS.has(action);
}

function namesWhere(isSelected: (row: RuleActionRow) => boolean): readonly RuleAction[] {
  return ruleTable.filter(isSelected).map(({ name }) => name);
}

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
  /** Set if the result is a record, so that later requests of a batch can refer to its id. */
  readonly returnsRecord?: true;
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
  {
    name: 'create',
    decides: 'create',
    takes: ['data'],
    returnsRecord: true,
    summary: 'Creates a record from `data`; the id is generated.',
  },
  { name: 'read', decides: 'read', takes: ['id', 'fields', 'expand'], returnsRecord: true, summary: 'Reads one record.' },
  {
    name: 'update',
    decides: 'update',
    takes: ['id', 'data', 'ifMatch'],
    returnsRecord: true,
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
    returnsRecord: true,
    summary: 'Creates a record from `data` if no record that the caller may read matches `filter`.',
  },
  {
    name: 'updateIfExists',
    decides: 'update',
    alsoDecides: 'read',
    takes: ['filter', 'data'],
    returnsRecord: true,
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
const SCHEMA_ACTION: Action = Object.freeze({
  name: 'schema',
  decides: 'read',
  takes: [],
  summary: 'Describes the fields of the resource, to callers who may read or list it.',
});

/** The actions of a batch, by name. */
export const BATCH_ACTIONS: ReadonlyMap<string, Action> = new Map([...ACTIONS, [SCHEMA_ACTION.name, SCHEMA_ACTION]]);

/** The actions that change no records. */
export const READ_ONLY_ACTIONS: ReadonlySet<string> = new Set(
  [...BATCH_ACTIONS.values()].filter(({ decides }) => !CHANGES_RECORDS.has(decides)).map(({ name }) => name),
);

/** The actions that take a single decision, so that their outcome can be predicted. */
export const SINGLE_DECISION_ACTIONS: readonly ActionName[] = table
  .filter(({ alsoDecides }) => alsoDecides === undefined)
  .map(({ name }) => name);
