/** What an expression may call. `macros` are written as functions, too: the parser makes loops of them. */
export interface CelSyntax {
  /** As an expression says it. */
  readonly form: string;
  /** What it comes to, in words. */
  readonly summary: string;
}

const comparing =
  'true or false as the operator of that meaning says it; values of different types are an error, but for ints and doubles, and for an instant and its text';
const counting = 'of numbers, of instants and spans of time; of an int and a double it is a double';
const ofNumbers = 'of numbers; of an int and a double it is a double';

/** Operators by the name that CEL's tree has for them. */
export const CEL_OPERATORS: ReadonlyMap<string, CelSyntax> = new Map([
  ['_==_', { form: 'a == b', summary: comparing }],
  ['_!=_', { form: 'a != b', summary: comparing }],
  ['_<_', { form: 'a < b', summary: comparing }],
  ['_<=_', { form: 'a <= b', summary: comparing }],
  ['_>_', { form: 'a > b', summary: comparing }],
  ['_>=_', { form: 'a >= b', summary: comparing }],
  ['@in', { form: 'a in [b, c]', summary: 'whether a list has an item' }],
  ['_&&_', { form: 'a && b', summary: 'both; false beside an error is false' }],
  ['_||_', { form: 'a || b', summary: 'either; true beside an error is true' }],
  ['!_', { form: '!a', summary: 'not' }],
  ['_?_:_', { form: 'a ? b : c', summary: 'b where a is true, c where it is false' }],
  ['_[_]', { form: 'a["key"]', summary: 'a member of an object, an item of a list' }],
  ['_+_', { form: 'a + b', summary: `${counting}; joins texts and lists` }],
  ['_-_', { form: 'a - b', summary: counting }],
  ['_*_', { form: 'a * b', summary: ofNumbers }],
  ['_/_', { form: 'a / b', summary: `${ofNumbers}; of two ints without its fraction` }],
  ['_%_', { form: 'a % b', summary: 'the remainder of two ints, with the sign of `a`' }],
  ['-_', { form: '-a', summary: 'the negative number' }],
]);

/** Macros by name. */
export const CEL_MACROS: ReadonlyMap<string, CelSyntax> = new Map([
  ['has', { form: 'has(resource.fee)', summary: 'whether there is a value at the path, like the operator `exists`' }],
  ['exists', { form: 'list.exists(x, x > 1.0)', summary: 'whether it holds for an item' }],
  ['exists_one', { form: 'list.exists_one(x, x > 1.0)', summary: 'whether it holds for exactly one item' }],
  ['all', { form: 'list.all(x, x > 1.0)', summary: 'whether it holds for every item' }],
  ['map', { form: 'list.map(x, x + 1.0)', summary: 'the list of what each item comes to' }],
  ['filter', { form: 'list.filter(x, x > 1.0)', summary: 'the list of the items for which it holds' }],
]);

const ofMoment = 'of an instant, in UTC or in the time zone named: `"+01:00"` or `"Europe/Berlin"`';
const ofSpan = 'of a span of time, all of it in that unit';

/** Functions by name. */
export const CEL_FUNCTIONS: ReadonlyMap<string, CelSyntax> = new Map([
  ['size', { form: 'size(a)', summary: 'how many characters, items or members' }],
  ['contains', { form: 'a.contains("b")', summary: 'whether a text has another in it' }],
  ['startsWith', { form: 'a.startsWith("b")', summary: 'whether a text begins with another' }],
  ['endsWith', { form: 'a.endsWith("b")', summary: 'whether a text ends with another' }],
  ['matches', { form: 'a.matches("^b")', summary: 'whether a pattern (RE2) is found in a text' }],
  [
    'int',
    {
      form: 'int(a)',
      summary: 'a number without its fraction, decimal digits with or without a sign, or an instant in seconds since 1970',
    },
  ],
  ['double', { form: 'double(a)', summary: 'a number, or a text such as `"-12.5"`, `"1e3"` or `"Infinity"`' }],
  ['string', { form: 'string(a)', summary: 'the text of a number, instant, span of time, true or false' }],
  [
    'timestamp',
    { form: 'timestamp(a)', summary: 'an instant of a text such as `"2026-01-31T09:00:00Z"` (RFC 3339), or of seconds since 1970' },
  ],
  ['duration', { form: 'duration("90m")', summary: 'a span of time of a text: numbers with the units `h`, `m`, `s`, `ms`, `us`, `ns`' }],
  ['getFullYear', { form: 't.getFullYear()', summary: ofMoment }],
  ['getMonth', { form: 't.getMonth()', summary: `${ofMoment}; January is 0` }],
  ['getDate', { form: 't.getDate()', summary: `${ofMoment}; the first is 1` }],
  ['getDayOfMonth', { form: 't.getDayOfMonth()', summary: `${ofMoment}; the first is 0` }],
  ['getDayOfWeek', { form: 't.getDayOfWeek()', summary: `${ofMoment}; Sunday is 0` }],
  ['getDayOfYear', { form: 't.getDayOfYear()', summary: `${ofMoment}; the first is 0` }],
  ['getHours', { form: 't.getHours()', summary: `${ofMoment}; ${ofSpan}` }],
  ['getMinutes', { form: 't.getMinutes()', summary: `${ofMoment}; ${ofSpan}` }],
  ['getSeconds', { form: 't.getSeconds()', summary: `${ofMoment}; ${ofSpan}` }],
  ['getMilliseconds', { form: 't.getMilliseconds()', summary: `${ofMoment}, or of a span of time: 0 to 999` }],
]);
