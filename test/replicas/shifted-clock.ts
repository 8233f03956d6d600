/**
 * Shifts the clock of this process; loaded before the program. TEST_CLOCK_AHEAD has the milliseconds, or the file TEST_CLOCK_FILE,
 * which is read again every 100 ms.
 */
import { readFileSync } from 'node:fs';

const file = process.env['TEST_CLOCK_FILE'];
let ahead = file === undefined ? Number(process.env['TEST_CLOCK_AHEAD']) : Number(readFileSync(file, 'utf8'));
if (file !== undefined) {
  const read = (): void => {
    ahead = Number(readFileSync(file, 'utf8'));
  };
  setInterval(read, 100).unref();
}
const Real = Date;

globalThis.Date = new Proxy(Real, {
  // Without `new`, Date returns the current time as text.
  apply: () => new Real(Real.now() + ahead).toString(),
  construct: (_, given, target) => Reflect.construct(Real, given.length === 0 ? [Real.now() + ahead] : given, target) as object,
  get: (real, name) => (name === 'now' ? () => Real.now() + ahead : Reflect.get(real, name)),
});
