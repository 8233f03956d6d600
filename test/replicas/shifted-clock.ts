/** Loaded before the program: whoever asks what time it is, of this process alone, is told another one. */
const ahead = Number(process.env['TEST_CLOCK_AHEAD']);
const Real = Date;

globalThis.Date = new Proxy(Real, {
  // Called without `new`, it is a text of now.
  apply: () => new Real(Real.now() + ahead).toString(),
  construct: (_, given, target) => Reflect.construct(Real, given.length === 0 ? [Real.now() + ahead] : given, target) as object,
  get: (real, name) => (name === 'now' ? () => Real.now() + ahead : Reflect.get(real, name)),
});
