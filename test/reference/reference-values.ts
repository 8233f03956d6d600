/**
 * Parses values in conditions: days, instants, durations, decimals, addresses. An invalid value is undefined. It takes
 * nothing from `src/` but types.
 */
import { isIPv4, isIPv6 } from 'node:net';
import type { Json } from '../../src/operators/index.ts';

/** Parses `YYYY-MM-DD` to its midnight in UTC. A date that does not render to the same text is invalid. */
export function toDay(value: Json): number | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return undefined;
  const midnight = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString() === `${value}T00:00:00.000Z` ? midnight.getTime() : undefined;
}

/** Parses ISO 8601 with an offset and a year of four digits. */
export function toInstant(value: Json): number | undefined {
  if (
    typeof value !== 'string' ||
    !/^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/.test(value)
  ) {
    return undefined;
  }
  const at = Date.parse(value);
  if (toDay(value.slice(0, 10)) === undefined || Number.isNaN(at)) return undefined;
  return at >= Date.parse('0000-01-01T00:00:00Z') && at <= Date.parse('9999-12-31T23:59:59.999Z') ? at : undefined;
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Parses `90s`, `7d` or an ISO 8601 duration of weeks to seconds; returns milliseconds. */
export function toDuration(value: Json): number | undefined {
  if (typeof value !== 'string') return undefined;
  const short = /^(\d{1,9})([smhdw])$/.exec(value);
  if (short !== null) return Number(short[1]) * (SECONDS[short[2] ?? ''] ?? Number.NaN) * 1000;
  if (!/^P(?=.)(\d{1,9}W)?(\d{1,9}D)?(T(?=.)(\d{1,9}H)?(\d{1,9}M)?(\d{1,9}S)?)?$/.test(value)) return undefined;
  const parts = [...value.matchAll(/(\d+)([A-Z])/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (SECONDS[(unit ?? '').toLowerCase()] ?? Number.NaN) * 1000, 0);
}

/** Parses `22:00` to seconds since midnight. */
export function toTimeOfDay(value: Json): number | undefined {
  const found = typeof value === 'string' ? /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/.exec(value) : null;
  return found === null ? undefined : Number(found[1]) * 3600 + Number(found[2]) * 60 + Number(found[3] ?? 0);
}

export type Fraction = readonly [numerator: bigint, denominator: bigint];

/** Parses `"12.30"` or a number to an exact fraction. */
export function toFraction(value: Json): Fraction | undefined {
  const pattern = typeof value === 'number' ? /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/ : /^(-?)(\d+)(?:\.(\d+))?$/;
  const found = typeof value === 'number' || typeof value === 'string' ? pattern.exec(String(value)) : null;
  if (found === null) return undefined;
  const [, minus, whole = '', places = '', exponent = '0'] = found;
  const [digits, power] = [BigInt(`${minus}${whole}${places}`), Number(exponent) - places.length];
  return power < 0 ? [digits, 10n ** BigInt(-power)] : [digits * 10n ** BigInt(power), 1n];
}

export function compareFractions(a: Fraction | undefined, b: Fraction | undefined): number | undefined {
  if (a === undefined || b === undefined) return undefined;
  const [left, right] = [a[0] * b[1], b[0] * a[1]];
  return left === right ? 0 : left < right ? -1 : 1;
}

/** An address or network as one number, with its length in bits. */
export interface Bits {
  readonly value: bigint;
  readonly width: number;
}

export function toBits(written: string): Bits | undefined {
  if (isIPv4(written)) return { value: joined(written.split('.').map(Number), 8n), width: 32 };
  if (!isIPv6(written) || written.includes('%')) return undefined;
  const inGroups = written.replace(/[\d.]+$/, (tail) => (tail.includes('.') ? toGroups(tail) : tail));
  const [head = '', tail] = inGroups.split('::').map((side) => (side === '' ? [] : side.split(':'))) as [string[], string[]?];
  const zeros = tail === undefined ? [] : Array(8 - head.length - tail.length).fill('0');
  return {
    value: joined(
      [...head, ...zeros, ...(tail ?? [])].map((group) => Number.parseInt(group, 16)),
      16n,
    ),
    width: 128,
  };
}

/** Rewrites `10.1.2.3` to `a01:203`. */
function toGroups(ipv4: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

function joined(parts: readonly number[], width: bigint): bigint {
  return parts.reduce((value, part) => (value << width) | BigInt(part), 0n);
}

/** Maps `::ffff:10.1.2.3` to `10.1.2.3`. */
export function unmapped<Value extends Bits | undefined>(bits: Value): Value | Bits {
  return bits?.width === 128 && bits.value >> 32n === 0xffffn ? { value: bits.value & 0xffffffffn, width: 32 } : bits;
}
