import { sentence } from './sentence.ts';

/** The number of related records that a condition requires. */
interface Bounds {
  readonly atLeast: number | undefined;
  readonly atMost: number | undefined;
}

/** Texts of the builder of conditions. */
export const builderTexts = {
  path: 'Path',
  pathPlaceholder: 'such as resource.status',
  emptyPath: 'Choose a field',
  emptyChoice: 'Choose a value',
  emptyValue: 'Enter a value',
  behind: (group: string) => sentence`${group}, through references`,
  operator: 'Operator',
  value: 'Value',
  from: 'From',
  to: 'To',
  items: 'Values',
  itemsHelp: 'Press Enter after each value.',
  records: (resource: string) => sentence`Records of ${resource}`,
  recordsHelp: 'A record, an id or ${path}',
  reference: 'Compare with the value of a path',
  literal: 'Compare with a fixed value',
  referenced: 'Path of the value',
  amount: 'Amount',
  unit: 'Unit',
  units: { s: 'seconds', m: 'minutes', h: 'hours', d: 'days', w: 'weeks' },
  days: ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'],
  utc: (instant: string) => sentence`${instant} (UTC)`,
  networks: 'Networks',
  expression: 'Expression',
  all: 'all of',
  any: 'any of',
  not: 'not',
  join: 'Conditions of the group',
  raw: 'Condition as JSON',
  rawHelp: 'The form cannot show this condition. It is kept as it is written.',
  rawInvalid: 'This is not valid JSON, or an object has a name twice. The last valid condition is kept.',
  add: {
    condition: 'Add a condition',
    group: 'Add a group',
    related: 'Add related records',
    expression: 'Add an expression',
  },
  related: {
    label: 'Related records',
    resource: 'Records of',
    alias: 'Called',
    aliasHelp: 'Paths of these records begin with it.',
    aliasInvalid: (kept: string) =>
      sentence`Use letters, digits and _, with a small letter first, and no name that paths begin with already. Kept: ${kept}`,
    count: 'Number',
    counts: { some: 'at least one', none: 'none', atLeast: 'at least …', atMost: 'at most …', between: 'from … to …' },
    atLeast: 'At least',
    atMost: 'At most',
    links: 'Linked by: all must be equal',
    link: (number: number) => sentence`Link ${number}`,
    field: 'Field of the related record',
    is: 'is',
    addLink: 'Add a link',
    removeLink: (field: string) => sentence`Remove the link by ${field}`,
    where: 'Counted if: all must be true',
    everyOne: 'Without conditions, every linked record counts.',
  },
  menu: {
    label: 'More actions',
    negate: 'Negate',
    unnegate: 'Remove the negation',
    wrap: 'Put into a group',
    unwrap: 'Dissolve the group',
    up: 'Move up',
    down: 'Move down',
    remove: 'Remove',
    ifExists: 'A missing value makes it false',
    unknown: 'A missing value makes it unknown',
  },
  ifExists: 'false if missing',
  remove: 'Remove the condition',
  rule: (number: number) => sentence`Condition ${number}`,
  sentence: {
    always: 'always',
    constant: { true: 'always', false: 'never', unknown: 'never, because a value is missing', open: 'always' },
    and: ' and ',
    or: ' or ',
    not: 'not',
    noPath: '(no path)',
    noValue: '(no value)',
    nothing: '(nothing)',
    ifExists: '(false if missing)',
    count: ({ atLeast, atMost }: Bounds) => {
      if (atMost === undefined) return atLeast === undefined || atLeast === 1 ? 'at least one' : sentence`at least ${atLeast}`;
      if (atLeast === undefined) return atMost === 0 ? 'no' : sentence`at most ${atMost}`;
      return sentence`${atLeast} to ${atMost}`;
    },
    related: (resource: string, alias: string) => sentence`${resource} ${alias}`,
    where: ' where ',
    negated: { exists: 'has no value', isNull: 'is not empty of value', empty: 'is not empty' },
  },
} as const;
