import { sentence } from './sentence.ts';

/** A condition on related records. */
interface RelatedWords {
  readonly resource: string;
  readonly links: string;
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
}

/** Entries that are hidden by default, inside a sentence. */
const ROUTINE_NAMES = { adminReads: 'reads of the admin API', refreshes: 'refreshes of sessions' } as const;

/** Texts of the audit log. */
export const decisionsTexts = {
  title: 'Decisions',
  description: 'Every request with its decision.',
  auditorDescription: 'The entries that you may read.',
  columns: { at: 'Time', verdict: 'Decision', who: 'Caller', what: 'Request', reason: 'Reason' },
  ranges: { '1h': 'Last hour', '24h': 'Last 24 hours', '7d': 'Last 7 days', '30d': 'Last 30 days', all: 'All' },
  rangeLabel: 'Time',
  chosenRange: { label: 'Other time', from: 'From', to: 'To', mistake: 'Choose a time after the start' },
  order: 'Order',
  orders: { newest: 'Newest first', oldest: 'Oldest first' },
  search: {
    label: 'Id of a request, record or decision, or address',
    placeholder: 'Id or address',
    find: 'Find',
    none: 'No entry has this id or address',
  },
  addFilter: { label: 'Add a filter', add: 'Add', exclude: 'Leave out these entries', frequent: 'Most frequent' },
  filters: {
    kind: 'Kind',
    allowed: 'Decision',
    resource: 'Resource',
    action: 'Action',
    role: 'Role',
    userId: 'User',
    recordId: 'Record',
    policyId: 'Policy',
    ruleId: 'Rule',
    requestId: 'Request id',
    ip: 'Address',
    outcome: 'Problem',
  },
  filterBy: (name: string, value: string) => sentence`Show only ${name} ${value}`,
  exclude: (name: string, value: string) => sentence`Exclude ${name} ${value}`,
  filterMenu: (column: string) => sentence`Filter by the values of ${column}`,
  excluded: (value: string) => sentence`not ${value}`,
  removeFilter: (name: string, value: string) => sentence`Remove the filter by ${name} ${value}`,
  facets: 'Filter',
  openFacets: (count: number) => (count === 0 ? 'Filter' : sentence`Filter · ${count} active`),
  noValue: 'no value',
  partial: 'Counting took too long, so older entries are not counted. Narrow the time or the filters.',
  shown: (count: number) => sentence`${count.toLocaleString()} loaded`,
  place: (number: number, count: number) => sentence`entry ${number.toLocaleString()} of ${count.toLocaleString()} loaded`,
  counting: 'Counting entries',
  total: (count: number, hidden: readonly (keyof typeof ROUTINE_NAMES)[]) => {
    const entries = count === 1 ? '1 entry' : sentence`${count.toLocaleString()} entries`;
    const names = hidden.map((name) => ROUTINE_NAMES[name]).join(' and ');
    return names === '' ? entries : sentence`${entries}, without ${names}`;
  },
  routines: {
    adminReads: {
      label: 'Reads of the admin API are hidden',
      show: 'Show reads of the admin API, such as those of this console',
      hide: 'Hide reads of the admin API',
    },
    refreshes: { label: 'Refreshes are hidden', show: 'Show refreshes of sessions', hide: 'Hide refreshes' },
  },
  empty: {
    filters: {
      title: 'No entry matches',
      detail: 'Choose a longer time, fewer filters, or show the entries that are hidden.',
      action: 'Remove all filters',
    },
    time: { title: 'No request was decided in this time', detail: 'Older entries may exist.', action: 'Show all times' },
    log: {
      title: 'No request was decided yet',
      detail:
        'Each request appears here with its decision and the reason. Reads of the admin API, such as those of this console, and refreshes of sessions are hidden.',
      action: 'Send a first request',
    },
  },
  clear: 'Remove all filters',
  chart: { allowed: 'allowed', denied: 'denied', label: 'Decisions over time. Select a part to see its entries.' },
  export: { denied: 'An export needs a rule that allows export on _Decision' },
  live: {
    start: 'Follow live',
    stop: 'Stop',
    pause: 'Pause',
    resume: 'Continue',
    reconnecting: 'The connection was lost. It is being opened again; entries in the meantime are not lost.',
    waiting: 'Waiting for the next entry',
    held: (count: number) => sentence`${count.toLocaleString()} new while paused`,
    dropped: (count: number) => sentence`${count.toLocaleString()} entries were left out, because this page did not keep up`,
    ended: (detail: string) => sentence`The stream has ended: ${detail}`,
  },
  verify: {
    label: 'Verify integrity',
    running: (count: number) => sentence`Verifying, ${count.toLocaleString()} entries`,
    whole: (count: number) => sentence`${count.toLocaleString()} entries verified, none was changed`,
    broken: (count: number) => sentence`${count.toLocaleString()} breaks of the hash chain`,
  },
  views: {
    label: 'Saved views',
    none: 'No view is saved',
    failed: 'The views could not be loaded',
    save: 'Save this view',
    name: 'Name of the view',
    saved: 'The view was saved',
    replaces: 'You have a view with this name. It will be replaced.',
    replace: 'Replace',
    delete: (name: string) => sentence`Delete the view ${name}`,
  },
  detail: {
    title: 'Decision',
    all: 'All decisions',
    members: {
      at: 'Time',
      revision: 'Revision of the policies',
    },
    trace: 'Rules, in the order of evaluation',
    forAdmins: 'The explanation and the values that the conditions read are for admins.',
    noTrace: 'No rule was evaluated for this entry.',
    facts: 'Values that the conditions read',
    details: 'Details',
    noFacts: 'The conditions read no values.',
    replay: 'Decide again under the present policies',
    simulate: 'Ask the same in the simulator, and change the question',
    replayed: {
      same: 'Present policies decide the same.',
      changed: 'Present policies decide differently.',
      missing: 'Values that the audit log did not keep',
    },
  },
  trace: {
    decided: 'decided',
    answers: { true: 'true', false: 'false', unknown: 'unknown', open: 'depends on the record' },
    all: 'all of',
    any: 'any of',
    not: 'not',
    expected: 'expected',
    missing: 'has no value',
    always: 'no condition',
    priority: (priority: number) => sentence`priority ${priority}`,
    ties: 'Rules of the same priority that would also have fired',
    when: 'Allowed if',
  },
  values: {
    is: 'the value is',
    change: (field: string) => sentence`the request would change ${field} to`,
    afterChange: 'with the values of the request it would be',
    ofEither: 'the value in the request or in the record at that time is',
    remove: (field: string) => sentence`the request would leave ${field} without a value`,
  },
  related: {
    condition: ({ resource, links, atLeast, atMost }: RelatedWords) => {
      if (atMost === undefined) return sentence`at least ${atLeast ?? 1} ${resource} where ${links}`;
      if (atLeast === undefined) return sentence`at most ${atMost} ${resource} where ${links}`;
      return sentence`${atLeast} to ${atMost} ${resource} where ${links}`;
    },
    list: (path: string, resource: string) => sentence`some ${resource} of ${path}`,
    missing: 'does not exist',
    link: (field: string, value: string | undefined) =>
      value === undefined ? sentence`${field} is a value that is missing` : sentence`${field} is ${value}`,
    and: ' and ',
    moreThan: (limit: number) => sentence`unknown, because there are more than ${limit}`,
    counts: (met: number, of: number, unknown: number) =>
      unknown === 0
        ? sentence`${met} of ${of} meet the conditions`
        : sentence`${met} of ${of} meet the conditions, and ${unknown} may meet them: a value is missing`,
  },
  ancestors: {
    matched: (id: string) => sentence`${id} is among them`,
    root: (ids: string) => sentence`none of ${ids} is among them`,
    missing: (ids: string) => sentence`none of ${ids} is among them, and the next parent does not exist`,
    cycle: (ids: string) => sentence`none of ${ids} is among them, and they form a cycle`,
    limit: (count: number) => sentence`none of the first ${count} records is among them, and there are more above`,
  },
  nearMiss: {
    title: 'What would have allowed it',
    away: (count: number) => {
      if (count === 0) return 'All conditions are met';
      return count === 1 ? 'One condition away' : sentence`${count} conditions away`;
    },
    of: (policy: string) => sentence` of ${policy}`,
    overruled: (policy: string) => sentence`A DENY rule of ${policy} fires all the same.`,
    unmet: (condition: string, found: string) => sentence`${condition}, but ${found}`,
    noValue: (path: string) => sentence`${path} has no value`,
    oneOf: 'one of',
    not: (condition: string) => sentence`not (${condition})`,
  },
} as const;
