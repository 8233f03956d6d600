import { foldCase } from '../fold-case.ts';
import { sql } from '../sql.ts';
import { defineNegation, defineOperator, validateText } from './define-operator.ts';
import { IN_MEMORY, type Operator, type OperatorSample, type SqlColumn, type SqlContext } from './operator.ts';
import { falseWherePresent, SQL_UNKNOWN, type SqlTruth, trueWherePresent } from './operator-sql.ts';
import { includesPart, matchesWildcards } from './text-search.ts';
import { type Json, UNKNOWN } from './value.ts';

/**
 * Maximum length of a part that is searched for anywhere in a text. The search in a database takes time in the product of both lengths at worst, and
 * clients can send both. A longer literal is rejected; a longer value of a reference makes the result unknown.
 */
const MAX_PART_LENGTH = 1000;

/** An operator that compares a text with a part or a pattern. Texts are compared by code points, without Unicode normalization. */
interface TextOperatorSpec extends Pick<Operator, 'name' | 'label' | 'summary' | 'otherNames' | 'negator'> {
  /** The verb in messages: `starts with`. */
  readonly verb: string;
  /** Maximum length of the part. */
  readonly longest?: number;
  test(text: string, part: string): boolean;
  compile(column: SqlColumn, part: string, context: SqlContext): SqlTruth | typeof IN_MEMORY;
  readonly samples: readonly OperatorSample[];
}

export const contains: Operator = defineTextOperator({
  name: 'contains',
  label: 'contains',
  verb: 'contains',
  summary: 'The text contains the other. Case-sensitive; no character is a wildcard.',
  otherNames: '~ substring containssubstring',
  negator: 'ncontains',
  longest: MAX_PART_LENGTH,
  test: includesPart,
  compile: (column, part, { dialect }) => sql<boolean | null>`${dialect.position(column.sql, sql`${part}`)} > 0`,
  samples: [
    { actual: '100% cotton', expected: '0%', kind: 'text', result: true },
    { actual: '100% cotton', expected: '0_', kind: 'text', result: false },
    { actual: 'Cotton', expected: 'cot', kind: 'text', result: false },
    { actual: 5, expected: '5', result: null },
  ],
});

export const ncontains: Operator = defineNegation(contains, {
  name: 'ncontains',
  label: 'does not contain',
  summary: 'The text does not contain the other. Unknown if the text is missing.',
  otherNames: '!~ notcontains doesnotcontain notlike nlike',
});

export const startsWith: Operator = defineTextOperator({
  name: 'startsWith',
  label: 'starts with',
  verb: 'starts with',
  summary: 'The text starts with the other. Case-sensitive.',
  otherNames: 'beginswith prefix hasprefix',
  test: (text, part) => text.startsWith(part),
  compile: ({ sql: text }, part) => startsWithSql(text, part),
  samples: [
    { actual: 'INV-001', expected: 'INV-', kind: 'text', result: true },
    { actual: 'inv-001', expected: 'INV-', kind: 'text', result: false },
    { actual: 'INV-001', expected: '', kind: 'text', result: true },
  ],
});

export const endsWith: Operator = defineTextOperator({
  name: 'endsWith',
  label: 'ends with',
  verb: 'ends with',
  summary: 'The text ends with the other. Case-sensitive.',
  otherNames: 'suffix hassuffix',
  test: (text, part) => text.endsWith(part),
  compile: ({ sql: text }, part, { dialect }) => (part === '' ? trueWherePresent(text) : dialect.endsWith(text, part)),
  samples: [
    { actual: 'ann@example.org', expected: '@example.org', kind: 'text', result: true },
    { actual: 'ann@example.org.evil', expected: '@example.org', kind: 'text', result: false },
    { actual: '', expected: 'x', kind: 'text', result: false },
  ],
});

export const icontains: Operator = defineTextOperator({
  name: 'icontains',
  label: 'contains (any case)',
  verb: 'contains',
  summary: 'The text contains the other. Ignores case, by Unicode case folding.',
  otherNames: 'search ilike',
  negator: 'incontains',
  longest: MAX_PART_LENGTH,
  test: (text, part) => includesPart(foldCase(text), foldCase(part)),
  compile: ({ sql: text }, part, { dialect }) =>
    sql<boolean | null>`${dialect.position(dialect.foldCase(text), sql`${foldCase(part)}`)} > 0`,
  samples: [
    { actual: 'Große STRASSE', expected: 'straße', kind: 'text', result: true },
    { actual: 'Große Straße', expected: 'weg', kind: 'text', result: false },
  ],
});

export const incontains: Operator = defineNegation(icontains, {
  name: 'incontains',
  label: 'does not contain (any case)',
  summary: 'The text does not contain the other. Ignores case.',
});

export const istartsWith: Operator = defineTextOperator({
  name: 'istartsWith',
  label: 'starts with (any case)',
  verb: 'starts with',
  summary: 'The text starts with the other. Ignores case.',
  test: (text, part) => foldCase(text).startsWith(foldCase(part)),
  compile: ({ sql: text }, part, { dialect }) =>
    sql<boolean | null>`${dialect.position(dialect.foldCase(text), sql`${foldCase(part)}`)} = 1`,
  samples: [
    { actual: 'Ärzte', expected: 'ÄR', kind: 'text', result: true },
    { actual: 'Ärzte', expected: 'är zte', kind: 'text', result: false },
  ],
});

export const iendsWith: Operator = defineTextOperator({
  name: 'iendsWith',
  label: 'ends with (any case)',
  verb: 'ends with',
  summary: 'The text ends with the other. Ignores case.',
  test: (text, part) => foldCase(text).endsWith(foldCase(part)),
  compile: ({ sql: text }, part, { dialect }) =>
    part === '' ? trueWherePresent(text) : dialect.endsWith(dialect.foldCase(text), foldCase(part)),
  samples: [
    { actual: 'ΟΔΟΣ', expected: 'δος', kind: 'text', result: true },
    { actual: 'photo.JPG', expected: '.png', kind: 'text', result: false },
  ],
});

/** Maximum number of characters of a pattern in SQL. */
const MAX_SQL_PATTERN = 100;
/**
 * Maximum number of characters after the first `*` of a pattern in SQL. SQLite can take one step for each of them and each character of the text.
 * Longer patterns are evaluated in memory, in linear time.
 */
const MAX_SQL_SEARCH = 32;

export const like: Operator = defineTextOperator({
  name: 'like',
  label: 'is like',
  verb: 'matches',
  summary: 'The whole text matches the pattern: `*` matches any characters, `?` matches one. Case-sensitive.',
  otherNames: 'glob wildcard stringlike keymatch',
  longest: MAX_PART_LENGTH,
  test: matchesWildcards,
  compile({ sql: text }, pattern, { dialect }) {
    const star = pattern.indexOf('*');
    if (pattern.length > MAX_SQL_PATTERN || (star !== -1 && pattern.length - star > MAX_SQL_SEARCH)) return IN_MEMORY;
    const fits = dialect.matchesWildcards(text, pattern);
    const [prefix = ''] = pattern.split(/[*?]/, 1);
    // The prefix is compared separately so that an index can be used: databases derive no range from a bound pattern.
    return prefix === '' ? fits : sql<boolean | null>`(${startsWithSql(text, prefix)} AND ${fits})`;
  },
  samples: [
    { actual: 'report-2026.pdf', expected: 'report-????.pdf', kind: 'text', result: true },
    { actual: 'report-2026.pdf', expected: '*.PDF', kind: 'text', result: false },
    { actual: 'a[b]%', expected: 'a[b]%', kind: 'text', result: true },
    { actual: '\u{1f600}', expected: '?', kind: 'text', result: true },
  ],
});

function defineTextOperator({ longest = Number.POSITIVE_INFINITY, ...spec }: TextOperatorSpec): Operator {
  const isPart = (expected: Json): expected is string => typeof expected === 'string' && expected.length <= longest;
  return defineOperator({
    ...spec,
    kinds: ['text', 'json'],
    operand: 'text',
    validateOperand: (expected) =>
      validateText(expected) ?? (isPart(expected) ? undefined : `expected at most ${longest} characters, given ${String(expected).length}`),
    evaluate(actual: Json, expected: Json) {
      if (typeof actual !== 'string' || !isPart(expected)) return UNKNOWN;
      return spec.test(actual.toWellFormed(), expected.toWellFormed());
    },
    compile(column, expected, context) {
      if (!isPart(expected)) return SQL_UNKNOWN;
      // Stored text has no NUL. One database would truncate the parameter at a NUL, the other would reject it.
      if (expected.includes('\0')) return falseWherePresent(column.sql);
      return spec.compile(column, expected.toWellFormed(), context);
    },
  });
}

/** Compiles a prefix comparison to a range, so that an index can be used. */
function startsWithSql(text: SqlColumn['sql'], prefix: string): SqlTruth {
  const end = afterPrefix(prefix);
  return end === undefined ? sql<boolean | null>`${text} >= ${prefix}` : sql<boolean | null>`(${text} >= ${prefix} AND ${text} < ${end})`;
}

/** Returns the least text that is greater than every text with this prefix; undefined if there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (point) => point.codePointAt(0) ?? 0);
  while (points.at(-1) === 0x10ffff) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
}
