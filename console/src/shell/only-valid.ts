/**
 * Returns a `validateSearch` that keeps only the validated parameters. The router adds all other parameters of the address to those of a route,
 * also those that the route has just refused.
 */
export function onlyValid<Search extends object>(validate: (given: Record<string, unknown>) => Search) {
  return (given: Record<string, unknown>): Search => ({
    ...Object.fromEntries(Object.keys(given).map((name) => [name, undefined])),
    ...validate(given),
  });
}
