import { sql } from '../sql.ts';
import { defineOperator, type SqlSign, validateItems, validateScalar, validateText } from './define-operator.ts';
import { parseDate, parseDuration, parseInstant, parseTimeOfDay, toInstantText } from './instants.ts';
import { type ComparisonContext, IN_MEMORY, type Operator, type OperatorSample } from './operator.ts';
import { SQL_UNKNOWN } from './operator-sql.ts';
import { anyTruth, describeValue, type Json, type Kind, UNKNOWN } from './value.ts';
import { compareAs, toStored } from './value-kinds.ts';

export const before: Operator = defineTimeOrder({
  name: 'before',
  label: 'is before',
  summary: 'The instant or date is earlier than the other. Values without a definition are compared as instants.',
  otherNames: 'datelessthan earlierthan',
  commutator: 'after',
  sign: '<',
  test: (order) => order < 0,
  samples: [
    { actual: '2026-01-31T08:00:00.000Z', expected: '2026-01-31T10:00:00+01:00', kind: 'timestamp', result: true },
    { actual: '2026-01-31T09:00:00.000Z', expected: '2026-01-31T10:00:00+01:00', kind: 'timestamp', result: false },
    { actual: 'soon', expected: '2026-01-31T10:00:00Z', result: null },
  ],
});

export const after: Operator = defineTimeOrder({
  name: 'after',
  label: 'is after',
  summary: 'The instant or date is later than the other.',
  otherNames: 'dategreaterthan laterthan',
  commutator: 'before',
  sign: '>',
  test: (order) => order > 0,
  samples: [
    { actual: '2026-02-01', expected: '2026-01-31', kind: 'date', result: true },
    { actual: '2026-01-31T09:00:00.000Z', expected: '2026-01-31T10:00:00+01:00', kind: 'timestamp', result: false },
    { actual: undefined, expected: '2026-01-31', kind: 'date', result: null },
  ],
});

export const withinLast: Operator = defineTimeWindow({
  name: 'withinLast',
  label: 'is within the last',
  summary: 'The instant is at most the duration (`24h`, `7d`, `PT30M`) before now, and not after now.',
  window: (now, duration) => [now - duration, now],
  samples: [
    { actual: '2026-01-31T11:30:00.000Z', expected: '1h', kind: 'timestamp', result: true },
    { actual: '2026-01-31T10:30:00.000Z', expected: 'PT1H', kind: 'timestamp', result: false },
    { actual: '2026-01-31T11:30:00.000Z', expected: 'P1M', kind: 'timestamp', result: null },
  ],
});

export const withinNext: Operator = defineTimeWindow({
  name: 'withinNext',
  label: 'is within the next',
  summary: 'The instant is at most the duration (`24h`, `7d`, `PT30M`) after now, and not before now.',
  window: (now, duration) => [now, now + duration],
  samples: [
    { actual: '2026-02-01T12:00:00.000Z', expected: '1d', kind: 'timestamp', result: true },
    { actual: '2026-02-01T12:00:00.001Z', expected: '1d', kind: 'timestamp', result: false },
  ],
});

interface TimeOrderSpec extends Pick<Operator, 'name' | 'label' | 'summary' | 'otherNames'> {
  readonly commutator: string;
  readonly sign: SqlSign;
  test(order: number): boolean;
  readonly samples: readonly OperatorSample[];
}

function defineTimeOrder({ sign, test, ...rest }: TimeOrderSpec): Operator {
  return defineOperator({
    ...rest,
    kinds: ['timestamp', 'date', 'json'],
    operand: 'time',
    columnSign: sign,
    validateOperand: (expected, { kind }) => validateScalar(expected, timeKind(kind)),
    evaluate(actual, expected, { kind }) {
      const order = compareAs(timeKind(kind), actual, expected);
      return order === undefined ? UNKNOWN : test(order);
    },
    compile(column, expected) {
      const stored = toStored(column, column.kind, expected);
      if (!stored.fits) return SQL_UNKNOWN;
      return stored.bound === undefined ? IN_MEMORY : sql<boolean | null>`${column.sql} ${sql.raw(sign)} ${stored.bound}`;
    },
  });
}

interface TimeWindowSpec extends Pick<Operator, 'name' | 'label' | 'summary'> {
  /** Returns the first and the last instant of the window, in milliseconds since 1970. `duration` is in milliseconds. */
  window(now: number, duration: number): readonly [number, number];
  readonly samples: readonly OperatorSample[];
}

function defineTimeWindow({ window, ...rest }: TimeWindowSpec): Operator {
  const bounds = (expected: Json, { now }: ComparisonContext): readonly [number, number] | undefined => {
    const duration = typeof expected === 'string' ? parseDuration(expected) : undefined;
    return duration === undefined ? undefined : window(now, duration);
  };
  return defineOperator({
    ...rest,
    kinds: ['timestamp', 'json'],
    operand: 'duration',
    readsTime: true,
    validateOperand: (expected) => validateText(expected) ?? validateDuration(String(expected)),
    evaluate(actual, expected, context) {
      const range = bounds(expected, context);
      const instant = typeof actual === 'string' ? parseInstant(actual) : undefined;
      return range === undefined || instant === undefined ? UNKNOWN : instant >= range[0] && instant <= range[1];
    },
    compile(column, expected, { comparison }) {
      const range = bounds(expected, comparison);
      if (range === undefined) return SQL_UNKNOWN;
      const [first, last] = range.map((instant) => toStored(column, 'timestamp', toInstantText(instant)));
      if (!first?.fits || !last?.fits || first.bound === undefined || last.bound === undefined) return IN_MEMORY;
      return sql<boolean | null>`(${column.sql} >= ${first.bound} AND ${column.sql} <= ${last.bound})`;
    },
  });
}

/** Returns the kind that a time operator compares as. Without a kind, it compares instants. */
function timeKind(kind: Kind | undefined): Kind {
  return kind === 'date' ? 'date' : 'timestamp';
}

function validateDuration(text: string): string | undefined {
  if (parseDuration(text) !== undefined) return undefined;
  return `expected a duration such as "24h", "7d" or "PT30M" (years and months have no fixed length), given ${describeValue(text)}`;
}

/** The local day of the week and time of day. */
interface WallClock {
  /** 1 (Monday) to 7 (Sunday), as in ISO 8601. */
  readonly dayOfWeek: number;
  /** Milliseconds since midnight. */
  readonly timeOfDay: number;
}

export const timeOfDayBetween: Operator = defineOperator({
  name: 'timeOfDayBetween',
  label: 'is at a time of day between',
  summary: 'The local time (configured zone) is at or after the first and before the second. `["22:00", "06:00"]` spans midnight.',
  otherNames: 'timebetween timeofday',
  kinds: ['timestamp', 'json'],
  readsTimeZone: true,
  operand: 'timesOfDay',
  validateOperand(expected) {
    if (!Array.isArray(expected) || expected.length !== 2) return `expected a list of two times of day, given ${describeValue(expected)}`;
    const [start, end] = expected.map(toTimeOfDay);
    if (start !== undefined && start === end)
      return `expected two different times of day, given ${describeValue(expected[0] ?? null)} twice`;
    return validateItems(expected, (item) =>
      toTimeOfDay(item) === undefined ? `expected a time of day such as "22:00", given ${describeValue(item)}` : undefined,
    );
  },
  evaluate(actual, expected, context) {
    if (!Array.isArray(expected) || expected.length !== 2) return UNKNOWN;
    const [start, end] = expected.map(toTimeOfDay);
    const at = toWallClock(actual, context)?.timeOfDay;
    if (start === undefined || end === undefined || at === undefined) return UNKNOWN;
    return start <= end ? at >= start && at < end : at >= start || at < end;
  },
  compile: () => IN_MEMORY,
  samples: [
    { actual: '2026-01-31T10:00:00.000Z', expected: ['09:00', '17:00'], kind: 'timestamp', result: true },
    { actual: '2026-01-31T17:00:00.000Z', expected: ['09:00', '17:00'], kind: 'timestamp', result: false },
    { actual: '2026-01-31T23:30:00.000Z', expected: ['22:00', '06:00'], kind: 'timestamp', result: true },
    { actual: '2026-01-31T10:00:00.000Z', expected: ['9 am', '17:00'], kind: 'timestamp', result: null },
  ],
});

export const dayOfWeekIn: Operator = defineOperator({
  name: 'dayOfWeekIn',
  label: 'is on a day of the week among',
  summary: 'The instant or date falls on one of the days of the week, 1 (Monday) to 7 (Sunday), in the configured time zone.',
  otherNames: 'dayofweek weekday weekdayin',
  kinds: ['timestamp', 'date', 'json'],
  readsTimeZone: true,
  operand: 'daysOfWeek',
  validateOperand: (expected) =>
    validateItems(expected, (item) =>
      isDay(item) ? undefined : `expected a day from 1 (Monday) to 7 (Sunday), given ${describeValue(item)}${suggestDay(item)}`,
    ),
  evaluate(actual, expected, context) {
    const day = toWallClock(actual, context)?.dayOfWeek;
    if (day === undefined || !Array.isArray(expected)) return UNKNOWN;
    return anyTruth(expected, (wanted: Json) => (isDay(wanted) ? wanted === day : UNKNOWN));
  },
  compile: () => IN_MEMORY,
  samples: [
    { actual: '2026-01-31T10:00:00.000Z', expected: [6, 7], kind: 'timestamp', result: true },
    { actual: '2026-01-30', expected: [6, 7], kind: 'date', result: false },
    { actual: '2026-01-30', expected: [6, 8], kind: 'date', result: null },
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

/** Formatters by time zone. Creating a formatter costs more than a thousand uses of it, and there are few time zones. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function toWallClock(actual: Json, { kind, timeZone }: ComparisonContext): WallClock | undefined {
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

function toTimeOfDay(value: Json): number | undefined {
  return typeof value === 'string' ? parseTimeOfDay(value) : undefined;
}

function isDay(value: Json): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 7;
}

function suggestDay(given: Json): string {
  const day = typeof given === 'string' || typeof given === 'number' ? WEEKDAYS.get(String(given).toLowerCase()) : undefined;
  return day === undefined ? '' : ` (did you mean ${day}?)`;
}
