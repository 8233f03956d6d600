import { commonTexts } from '../texts/common.ts';

const UNITS = commonTexts.byteUnits;

/** Returns a number of bytes as text: `1.5 MiB`. */
export function printBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${value.toLocaleString('en', { maximumFractionDigits: value < 10 && power > 0 ? 1 : 0 })} ${UNITS[power]}`;
}
