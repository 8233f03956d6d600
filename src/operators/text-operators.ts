import { sql } from '../sql.ts';
import { checkText, defineNegation, defineOperator } from './define-operator.ts';
import { IN_MEMORY, type Operator, type OperatorSample, type SqlAround, type SqlSubject } from './operator.ts';
import { falseWherePresent, SQL_UNKNOWN, type SqlTruth, trueWherePresent } from './operator-sql.ts';
import { type Json, UNKNOWN } from './value.ts';

/**
 * Characters of a part that is looked for anywhere in a text, at most: looking takes, at worst, time in the product of both
 * lengths, and a client may bring both. A longer one is refused where it is written, and unknown where a reference brings it.
 */
const LONGEST_SOUGHT = 1000;

/** One way to look for a text inside another. */
interface TextQuestion {
  readonly name: string;
  readonly label: string;
  readonly summary: string;
  readonly negation?: string;
  /** Characters of the part, at most. */
  readonly longest?: number;
  holds(text: string, part: string): boolean;
  sql(subject: SqlSubject, part: string, around: SqlAround): SqlTruth | typeof IN_MEMORY;
  readonly samples: readonly OperatorSample[];
}

export const contains: Operator = defineTextOperator({
  name: 'contains',
  label: 'contains',
  summary: 'The text contains the other, exactly: no wildcards, case counts.',
  negation: 'ncontains',
  longest: LONGEST_SOUGHT,
  holds: (text, part) => text.includes(part),
  sql: (subject, part, { dialect }) => sql<boolean | null>`${dialect.position(subject.sql, sql`${part}`)} > 0`,
  samples: [
    { actual: '100% cotton', expected: '0%', kind: 'text', answer: true },
    { actual: '100% cotton', expected: '0_', kind: 'text', answer: false },
    { actual: 'Cotton', expected: 'cot', kind: 'text', answer: false },
    { actual: 5, expected: '5', answer: null },
  ],
});

export const ncontains: Operator = defineNegation(contains, {
  name: 'ncontains',
  label: 'does not contain',
  summary: 'The text does not contain the other. A missing text is unknown.',
});

export const startsWith: Operator = defineTextOperator({
  name: 'startsWith',
  label: 'starts with',
  summary: 'The text starts with the other, exactly.',
  holds: (text, part) => text.startsWith(part),
  sql: ({ sql: text }, part) => startsWithSql(text, part),
  samples: [
    { actual: 'INV-001', expected: 'INV-', kind: 'text', answer: true },
    { actual: 'inv-001', expected: 'INV-', kind: 'text', answer: false },
    { actual: 'INV-001', expected: '', kind: 'text', answer: true },
  ],
});

export const endsWith: Operator = defineTextOperator({
  name: 'endsWith',
  label: 'ends with',
  summary: 'The text ends with the other, exactly.',
  holds: (text, part) => text.endsWith(part),
  sql: ({ sql: text }, part, { dialect }) => (part === '' ? trueWherePresent(text) : dialect.endsWith(text, part)),
  samples: [
    { actual: 'ann@example.org', expected: '@example.org', kind: 'text', answer: true },
    { actual: 'ann@example.org.evil', expected: '@example.org', kind: 'text', answer: false },
    { actual: '', expected: 'x', kind: 'text', answer: false },
  ],
});

export const icontains: Operator = defineTextOperator({
  name: 'icontains',
  label: 'contains (any case)',
  summary: 'The text contains the other, whatever the case of letters, by Unicode case folding.',
  negation: 'incontains',
  longest: LONGEST_SOUGHT,
  holds: (text, part) => foldCase(text).includes(foldCase(part)),
  sql: ({ sql: text }, part, { dialect }) => sql<boolean | null>`${dialect.position(dialect.foldCase(text), sql`${foldCase(part)}`)} > 0`,
  samples: [
    { actual: 'Große STRASSE', expected: 'straße', kind: 'text', answer: true },
    { actual: 'Große Straße', expected: 'weg', kind: 'text', answer: false },
  ],
});

export const incontains: Operator = defineNegation(icontains, {
  name: 'incontains',
  label: 'does not contain (any case)',
  summary: 'The text does not contain the other, whatever the case of letters.',
});

export const istartsWith: Operator = defineTextOperator({
  name: 'istartsWith',
  label: 'starts with (any case)',
  summary: 'The text starts with the other, whatever the case of letters.',
  holds: (text, part) => foldCase(text).startsWith(foldCase(part)),
  sql: ({ sql: text }, part, { dialect }) => sql<boolean | null>`${dialect.position(dialect.foldCase(text), sql`${foldCase(part)}`)} = 1`,
  samples: [
    { actual: 'Ärzte', expected: 'ÄR', kind: 'text', answer: true },
    { actual: 'Ärzte', expected: 'är zte', kind: 'text', answer: false },
  ],
});

export const iendsWith: Operator = defineTextOperator({
  name: 'iendsWith',
  label: 'ends with (any case)',
  summary: 'The text ends with the other, whatever the case of letters.',
  holds: (text, part) => foldCase(text).endsWith(foldCase(part)),
  sql: ({ sql: text }, part, { dialect }) =>
    part === '' ? trueWherePresent(text) : dialect.endsWith(dialect.foldCase(text), foldCase(part)),
  samples: [
    { actual: 'ΟΔΟΣ', expected: 'δος', kind: 'text', answer: true },
    { actual: 'photo.JPG', expected: '.png', kind: 'text', answer: false },
  ],
});

/** A list may stop between two records that memory looks at; a database goes on to the last. Longer patterns are not for it. */
const MAX_SQL_PATTERN = 100;

export const like: Operator = defineTextOperator({
  name: 'like',
  label: 'is like',
  summary: 'The whole text fits a pattern in which `*` stands for any characters and `?` for one; all else is literal, case counts.',
  longest: LONGEST_SOUGHT,
  holds: matchesWildcards,
  sql({ sql: text }, pattern, { dialect }) {
    if (pattern.length > MAX_SQL_PATTERN) return IN_MEMORY;
    const fits = dialect.matchesWildcards(text, pattern);
    const [prefix = ''] = pattern.split(/[*?]/, 1);
    // Said besides, because an index can serve it: databases see no range in a pattern that is bound.
    return prefix === '' ? fits : sql<boolean | null>`(${startsWithSql(text, prefix)} AND ${fits})`;
  },
  samples: [
    { actual: 'report-2026.pdf', expected: 'report-????.pdf', kind: 'text', answer: true },
    { actual: 'report-2026.pdf', expected: '*.PDF', kind: 'text', answer: false },
    { actual: 'a[b]%', expected: 'a[b]%', kind: 'text', answer: true },
    { actual: '\u{1f600}', expected: '?', kind: 'text', answer: true },
  ],
});

function defineTextOperator({ longest = Number.POSITIVE_INFINITY, ...question }: TextQuestion): Operator {
  const isPart = (expected: Json): expected is string => typeof expected === 'string' && expected.length <= longest;
  return defineOperator({
    ...question,
    kinds: ['text', 'json'],
    operand: 'text',
    checkOperand: (expected) =>
      checkText(expected) ?? (isPart(expected) ? undefined : `expected at most ${longest} characters, given ${String(expected).length}`),
    answer(actual: Json, expected: Json) {
      if (typeof actual !== 'string' || !isPart(expected)) return UNKNOWN;
      return question.holds(actual.toWellFormed(), expected.toWellFormed());
    },
    sql(subject, expected, around) {
      if (!isPart(expected)) return SQL_UNKNOWN;
      // Stored text has no NUL; one database would end the text there, another would refuse it.
      if (expected.includes('\0')) return falseWherePresent(subject.sql);
      return question.sql(subject, expected.toWellFormed(), around);
    },
  });
}

/** A range, so that an index can serve it. */
function startsWithSql(text: SqlSubject['sql'], prefix: string): SqlTruth {
  const end = afterPrefix(prefix);
  return end === undefined ? sql<boolean | null>`${text} >= ${prefix}` : sql<boolean | null>`(${text} >= ${prefix} AND ${text} < ${end})`;
}

/**
 * Text in which letters that differ by case alone are the same: Unicode's full default folding, up to the choice of
 * the representative (ß, ẞ and SS are one; Σ, σ and ς are one; Turkish ı stays apart from i).
 */
export function foldCase(text: string): string {
  // Lower first, then upper: upper alone keeps ẞ from ß, lower alone keeps ς from σ. The dotless ı would become I.
  return text
    .split('ı')
    .map((part) => part.toLowerCase().toUpperCase())
    .join('ı');
}

/** The least text that is greater than every text beginning with `prefix`; undefined where there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (point) => point.codePointAt(0) ?? 0);
  while (points.at(-1) === 0x10ffff) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
}

/** Whether `text` is `pattern`, in which `*` stands for any characters and `?` for one. Takes time proportional to both lengths at worst. */
export function matchesWildcards(text: string, pattern: string): boolean {
  const characters = Array.from(text);
  const wanted = Array.from(pattern);
  let at = 0;
  let next = 0;
  let star = -1;
  let resume = 0;
  while (at < characters.length) {
    if (wanted[next] === '*') {
      star = next++;
      resume = at;
    } else if (next < wanted.length && (wanted[next] === '?' || wanted[next] === characters[at])) {
      next++;
      at++;
    } else if (star >= 0) {
      // The last star takes one character more; earlier stars never need another try.
      next = star + 1;
      at = ++resume;
    } else return false;
  }
  while (wanted[next] === '*') next++;
  return next === wanted.length;
}
