import { sql } from '../sql.ts';
import { checkScalar, checkText, defineOperator, type SqlSign } from './define-operator.ts';
import { parseDuration, parseInstant, toInstantText } from './instants.ts';
import { type Frame, IN_MEMORY, type Operator, type OperatorSample } from './operator.ts';
import { SQL_UNKNOWN } from './operator-sql.ts';
import { describeValue, type Json, type Kind, UNKNOWN } from './value.ts';
import { compareAs, toStored } from './value-kinds.ts';

export const before: Operator = defineSequence({
  name: 'before',
  label: 'is before',
  summary: 'The instant (or date) comes before the other; where no definition gives a kind, both are read as instants.',
  mirror: 'after',
  sign: '<',
  holds: (order) => order < 0,
  samples: [
    { actual: '2026-01-31T08:00:00.000Z', expected: '2026-01-31T10:00:00+01:00', kind: 'timestamp', answer: true },
    { actual: '2026-01-31T09:00:00.000Z', expected: '2026-01-31T10:00:00+01:00', kind: 'timestamp', answer: false },
    { actual: 'soon', expected: '2026-01-31T10:00:00Z', answer: null },
  ],
});

export const after: Operator = defineSequence({
  name: 'after',
  label: 'is after',
  summary: 'The instant (or date) comes after the other.',
  mirror: 'before',
  sign: '>',
  holds: (order) => order > 0,
  samples: [
    { actual: '2026-02-01', expected: '2026-01-31', kind: 'date', answer: true },
    { actual: '2026-01-31T09:00:00.000Z', expected: '2026-01-31T10:00:00+01:00', kind: 'timestamp', answer: false },
    { actual: undefined, expected: '2026-01-31', kind: 'date', answer: null },
  ],
});

export const withinLast: Operator = defineWindow({
  name: 'withinLast',
  label: 'is within the last',
  summary: 'The instant lies in the time before now that the duration says (`24h`, `7d`, `PT30M`), both ends included.',
  window: (now, duration) => [now - duration, now],
  samples: [
    { actual: '2026-01-31T11:30:00.000Z', expected: '1h', kind: 'timestamp', answer: true },
    { actual: '2026-01-31T10:30:00.000Z', expected: 'PT1H', kind: 'timestamp', answer: false },
    { actual: '2026-01-31T11:30:00.000Z', expected: 'P1M', kind: 'timestamp', answer: null },
  ],
});

export const withinNext: Operator = defineWindow({
  name: 'withinNext',
  label: 'is within the next',
  summary: 'The instant lies in the time from now that the duration says, both ends included.',
  window: (now, duration) => [now, now + duration],
  samples: [
    { actual: '2026-02-01T12:00:00.000Z', expected: '1d', kind: 'timestamp', answer: true },
    { actual: '2026-02-01T12:00:00.001Z', expected: '1d', kind: 'timestamp', answer: false },
  ],
});

interface Sequence extends Pick<Operator, 'name' | 'label' | 'summary'> {
  readonly mirror: string;
  readonly sign: SqlSign;
  holds(order: number): boolean;
  readonly samples: readonly OperatorSample[];
}

function defineSequence({ sign, holds, ...rest }: Sequence): Operator {
  return defineOperator({
    ...rest,
    kinds: ['timestamp', 'date', 'json'],
    operand: 'time',
    columnSign: sign,
    checkOperand: (expected, { kind }) => checkScalar(expected, timeKind(kind)),
    answer(actual, expected, { kind }) {
      const order = compareAs(timeKind(kind), actual, expected);
      return order === undefined ? UNKNOWN : holds(order);
    },
    sql(subject, expected) {
      const stored = toStored(subject, subject.kind, expected);
      if (!stored.fits) return SQL_UNKNOWN;
      return stored.bound === undefined ? IN_MEMORY : sql<boolean | null>`${subject.sql} ${sql.raw(sign)} ${stored.bound}`;
    },
  });
}

interface Window extends Pick<Operator, 'name' | 'label' | 'summary'> {
  /** The first and the last instant, in milliseconds since 1970. */
  window(now: number, duration: number): readonly [number, number];
  readonly samples: readonly OperatorSample[];
}

function defineWindow({ window, ...rest }: Window): Operator {
  const bounds = (expected: Json, { now }: Frame): readonly [number, number] | undefined => {
    const duration = typeof expected === 'string' ? parseDuration(expected) : undefined;
    return duration === undefined ? undefined : window(now, duration);
  };
  return defineOperator({
    ...rest,
    kinds: ['timestamp', 'json'],
    operand: 'duration',
    checkOperand: (expected) => checkText(expected) ?? checkDuration(String(expected)),
    answer(actual, expected, frame) {
      const range = bounds(expected, frame);
      const instant = typeof actual === 'string' ? parseInstant(actual) : undefined;
      return range === undefined || instant === undefined ? UNKNOWN : instant >= range[0] && instant <= range[1];
    },
    sql(subject, expected, { frame }) {
      const range = bounds(expected, frame);
      if (range === undefined) return SQL_UNKNOWN;
      const [first, last] = range.map((instant) => toStored(subject, 'timestamp', toInstantText(instant)));
      if (!first?.fits || !last?.fits || first.bound === undefined || last.bound === undefined) return IN_MEMORY;
      return sql<boolean | null>`(${subject.sql} >= ${first.bound} AND ${subject.sql} <= ${last.bound})`;
    },
  });
}

/** Where no kind is known, a time operator still knows what it compares. */
function timeKind(kind: Kind | undefined): Kind {
  return kind === 'date' ? 'date' : 'timestamp';
}

function checkDuration(text: string): string | undefined {
  if (parseDuration(text) !== undefined) return undefined;
  return `expected a duration such as "24h", "7d" or "PT30M" (years and months have no fixed length), given ${describeValue(text)}`;
}
