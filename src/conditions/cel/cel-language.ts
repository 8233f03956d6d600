/** The operators, macros and functions of CEL that expressions may use, with their texts for the reference. */

/** An operator, macro or function of the expression language. */
export interface CelSyntax {
  /** An example of its syntax. */
  readonly form: string;
  /** A sentence for the reference page about the result. */
  readonly summary: string;
}

const mismatch = 'An error if the types differ, except for an int and a double, and for a timestamp and its text.';
const mixed = 'An int and a double give a double.';

/** Operators by their names in CEL's syntax tree. */
export const CEL_OPERATORS: ReadonlyMap<string, CelSyntax> = new Map([
  ['_==_', { form: 'a == b', summary: `True if the values are equal. ${mismatch}` }],
  ['_!=_', { form: 'a != b', summary: `True if the values differ. ${mismatch}` }],
  ['_<_', { form: 'a < b', summary: `True if \`a\` is less. ${mismatch}` }],
  ['_<=_', { form: 'a <= b', summary: `True if \`a\` is less or equal. ${mismatch}` }],
  ['_>_', { form: 'a > b', summary: `True if \`a\` is greater. ${mismatch}` }],
  ['_>=_', { form: 'a >= b', summary: `True if \`a\` is greater or equal. ${mismatch}` }],
  ['@in', { form: 'a in [b, c]', summary: 'True if an item of the list equals `a`.' }],
  ['_&&_', { form: 'a && b', summary: 'True if both are true. False if one is false, even if the other is an error.' }],
  ['_||_', { form: 'a || b', summary: 'True if one is true, even if the other is an error.' }],
  ['!_', { form: '!a', summary: 'True if `a` is false.' }],
  ['_?_:_', { form: 'a ? b : c', summary: '`b` if `a` is true, `c` if it is false.' }],
  ['_[_]', { form: 'a["key"]', summary: 'A member of an object, or an item of a list.' }],
  [
    '_+_',
    {
      form: 'a + b',
      summary: `The sum of two numbers, two durations, or a timestamp and a duration. ${mixed} Also concatenates texts and lists.`,
    },
  ],
  ['_-_', { form: 'a - b', summary: `The difference of two numbers, timestamps or durations, or of a timestamp and a duration. ${mixed}` }],
  ['_*_', { form: 'a * b', summary: `The product of two numbers. ${mixed}` }],
  ['_/_', { form: 'a / b', summary: `The quotient of two numbers. ${mixed} Two ints give an int, truncated towards zero.` }],
  ['_%_', { form: 'a % b', summary: 'The remainder of two ints, with the sign of `a`.' }],
  ['-_', { form: '-a', summary: 'The negative of a number.' }],
]);

/** Macros by name. The parser expands the macros of lists to loops. */
export const CEL_MACROS: ReadonlyMap<string, CelSyntax> = new Map([
  ['has', { form: 'has(resource.fee)', summary: 'True if the path has a value, like the operator `exists`.' }],
  [
    'related',
    {
      form: 'related(Membership, m, m.userId == user.id && m.teamId == resource.teamId, m.level == "owner")',
      summary:
        'True if a record of the resource equals the values in the third argument, and meets the condition in the fourth one, which is optional. `m` is its name in both. The same as the condition `related`.',
    },
  ],
  ['atLeast', { form: 'related(…).atLeast(2)', summary: 'True if at least so many records meet the condition.' }],
  ['atMost', { form: 'related(…).atMost(2)', summary: 'True if at most so many records meet the condition.' }],
  ['exists', { form: 'list.exists(x, x > 1.0)', summary: 'True if the condition is true for at least one item.' }],
  ['exists_one', { form: 'list.exists_one(x, x > 1.0)', summary: 'True if the condition is true for exactly one item.' }],
  ['all', { form: 'list.all(x, x > 1.0)', summary: 'True if the condition is true for every item.' }],
  ['map', { form: 'list.map(x, x + 1.0)', summary: 'A list of the results for each item.' }],
  ['filter', { form: 'list.filter(x, x > 1.0)', summary: 'A list of the items for which the condition is true.' }],
]);

const inZone = 'of a timestamp, in UTC or in a time zone such as `"+01:00"` or `"Europe/Berlin"`';
const ofDuration = 'or the whole duration in that unit';

/** Functions by name. */
export const CEL_FUNCTIONS: ReadonlyMap<string, CelSyntax> = new Map([
  ['size', { form: 'size(a)', summary: 'The number of characters of a text, items of a list or members of an object.' }],
  ['contains', { form: 'a.contains("b")', summary: 'True if the text contains the other.' }],
  ['startsWith', { form: 'a.startsWith("b")', summary: 'True if the text starts with the other.' }],
  ['endsWith', { form: 'a.endsWith("b")', summary: 'True if the text ends with the other.' }],
  ['matches', { form: 'a.matches("^b")', summary: 'True if part of the text matches the regular expression (RE2 syntax).' }],
  [
    'within',
    {
      form: 'resource.folderId.within(user.rootFolderIds)',
      summary:
        'True if the record with the id, or one of its ancestors in its hierarchy, is among the ids, like the operator `within`. It stands alone, or is joined by `&&`, `||` and `!`.',
    },
  ],
  [
    'int',
    { form: 'int(a)', summary: 'Converts a double (truncated), a text of decimal digits, or a timestamp (seconds since 1970) to an int.' },
  ],
  ['double', { form: 'double(a)', summary: 'Converts an int, or a text such as `"-12.5"`, `"1e3"` or `"Infinity"`, to a double.' }],
  ['string', { form: 'string(a)', summary: 'Converts a number, timestamp, duration or boolean to its text.' }],
  [
    'timestamp',
    {
      form: 'timestamp(a)',
      summary: 'Converts a text such as `"2026-01-31T09:00:00Z"` (RFC 3339), or seconds since 1970, to a timestamp.',
    },
  ],
  [
    'duration',
    { form: 'duration("90m")', summary: 'Converts a text to a duration: numbers with the units `h`, `m`, `s`, `ms`, `us` and `ns`.' },
  ],
  ['getFullYear', { form: 't.getFullYear()', summary: `The year ${inZone}.` }],
  ['getMonth', { form: 't.getMonth()', summary: `The month ${inZone}; January is 0.` }],
  ['getDate', { form: 't.getDate()', summary: `The day of the month ${inZone}; the first is 1.` }],
  ['getDayOfMonth', { form: 't.getDayOfMonth()', summary: `The day of the month ${inZone}; the first is 0.` }],
  ['getDayOfWeek', { form: 't.getDayOfWeek()', summary: `The day of the week ${inZone}; Sunday is 0.` }],
  ['getDayOfYear', { form: 't.getDayOfYear()', summary: `The day of the year ${inZone}; the first is 0.` }],
  ['getHours', { form: 't.getHours()', summary: `The hour ${inZone}, ${ofDuration}.` }],
  ['getMinutes', { form: 't.getMinutes()', summary: `The minute ${inZone}, ${ofDuration}.` }],
  ['getSeconds', { form: 't.getSeconds()', summary: `The second ${inZone}, ${ofDuration}.` }],
  ['getMilliseconds', { form: 't.getMilliseconds()', summary: `The milliseconds of the second, 0 to 999, ${inZone}, or of a duration.` }],
]);
