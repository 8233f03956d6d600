import { sql } from '../sql.ts';
import { checkItems, checkScalar, checkText, defineOperator, type SqlSign } from './define-operator.ts';
import { parseDate, parseDuration, parseInstant, parseTimeOfDay, toInstantText } from './instants.ts';
import { type Frame, IN_MEMORY, type Operator, type OperatorSample } from './operator.ts';
import { SQL_UNKNOWN } from './operator-sql.ts';
import { anyTruth, describeValue, type Json, type Kind, UNKNOWN } from './value.ts';
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

/** What a clock on the wall shows. */
interface WallClock {
  /** 1 (Monday) to 7 (Sunday), as in ISO 8601. */
  readonly dayOfWeek: number;
  /** Milliseconds since midnight. */
  readonly timeOfDay: number;
}

export const timeOfDayBetween: Operator = defineOperator({
  name: 'timeOfDayBetween',
  label: 'is at a time of day between',
  summary: 'The instant falls between two times of day (zone as configured; the end excluded): ["22:00", "06:00"] goes over midnight.',
  kinds: ['timestamp', 'json'],
  operand: 'timesOfDay',
  checkOperand(expected) {
    if (!Array.isArray(expected) || expected.length !== 2) return `expected a list of two times of day, given ${describeValue(expected)}`;
    const [from, to] = expected.map(readTime);
    if (from !== undefined && from === to)
      return `expected two different times of day, for nothing lies between equal ones, given ${describeValue(expected[0] ?? null)} twice`;
    return checkItems(expected, (item) =>
      readTime(item) === undefined ? `expected a time of day such as "22:00", given ${describeValue(item)}` : undefined,
    );
  },
  answer(actual, expected, frame) {
    if (!Array.isArray(expected) || expected.length !== 2) return UNKNOWN;
    const [from, to] = expected.map(readTime);
    const at = readClock(actual, frame)?.timeOfDay;
    if (from === undefined || to === undefined || at === undefined) return UNKNOWN;
    return from <= to ? at >= from && at < to : at >= from || at < to;
  },
  sql: () => IN_MEMORY,
  samples: [
    { actual: '2026-01-31T10:00:00.000Z', expected: ['09:00', '17:00'], kind: 'timestamp', answer: true },
    { actual: '2026-01-31T17:00:00.000Z', expected: ['09:00', '17:00'], kind: 'timestamp', answer: false },
    { actual: '2026-01-31T23:30:00.000Z', expected: ['22:00', '06:00'], kind: 'timestamp', answer: true },
    { actual: '2026-01-31T10:00:00.000Z', expected: ['9 am', '17:00'], kind: 'timestamp', answer: null },
  ],
});

export const dayOfWeekIn: Operator = defineOperator({
  name: 'dayOfWeekIn',
  label: 'is on a day of the week among',
  summary: 'The instant or date falls on one of the days, 1 (Monday) to 7 (Sunday), in the configured time zone.',
  kinds: ['timestamp', 'date', 'json'],
  operand: 'daysOfWeek',
  checkOperand: (expected) =>
    checkItems(expected, (item) =>
      isDay(item) ? undefined : `expected a day from 1 (Monday) to 7 (Sunday), given ${describeValue(item)}${suggestDay(item)}`,
    ),
  answer(actual, expected, frame) {
    const day = readClock(actual, frame)?.dayOfWeek;
    if (day === undefined || !Array.isArray(expected)) return UNKNOWN;
    return anyTruth(expected, (wanted: Json) => (isDay(wanted) ? wanted === day : UNKNOWN));
  },
  sql: () => IN_MEMORY,
  samples: [
    { actual: '2026-01-31T10:00:00.000Z', expected: [6, 7], kind: 'timestamp', answer: true },
    { actual: '2026-01-30', expected: [6, 7], kind: 'date', answer: false },
    { actual: '2026-01-30', expected: [6, 8], kind: 'date', answer: null },
  ],
});

/** Other spellings of the days of the week, in lower case: the name, its first three letters, and 0 for Sunday, as in cron. */
export const WEEKDAYS: ReadonlyMap<string, number> = new Map([
  ['0', 7],
  ...['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].flatMap((name, index) => [
    [name, index + 1] as const,
    [name.slice(0, 3), index + 1] as const,
  ]),
]);

/** Making one costs more than using it a thousand times; there are few time zones. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function readClock(actual: Json, { kind, timeZone }: Frame): WallClock | undefined {
  if (typeof actual !== 'string') return undefined;
  // A calendar date is the same day everywhere.
  if (kind === 'date') return toClock(parseDate(actual), 'UTC');
  return toClock(parseInstant(actual), timeZone);
}

function toClock(instant: number | undefined, timeZone: string): WallClock | undefined {
  if (instant === undefined) return undefined;
  const parts = new Map(
    clockOf(timeZone)
      .formatToParts(instant)
      .map((part) => [part.type, part.value]),
  );
  const seconds = Number(parts.get('hour')) * 3600 + Number(parts.get('minute')) * 60 + Number(parts.get('second'));
  const dayOfWeek = WEEKDAYS.get(parts.get('weekday')?.toLowerCase() ?? '');
  const millisecond = ((instant % 1000) + 1000) % 1000;
  return dayOfWeek === undefined ? undefined : { dayOfWeek, timeOfDay: seconds * 1000 + millisecond };
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  let clock = clocks.get(timeZone);
  if (clock === undefined) {
    clock = new Intl.DateTimeFormat('en-US', {
      timeZone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    });
    clocks.set(timeZone, clock);
  }
  return clock;
}

function readTime(value: Json): number | undefined {
  return typeof value === 'string' ? parseTimeOfDay(value) : undefined;
}

function isDay(value: Json): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 7;
}

function suggestDay(given: Json): string {
  const day = typeof given === 'string' || typeof given === 'number' ? WEEKDAYS.get(String(given).toLowerCase()) : undefined;
  return day === undefined ? '' : ` (did you mean ${day}?)`;
}
