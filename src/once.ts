/** Returns a function that does the work in its first call. Further calls return the result of the first one, also if it failed. */
export function once<T, Args extends readonly unknown[]>(work: (...args: Args) => Promise<T>): (...args: Args) => Promise<T> {
  let result: Promise<T> | undefined;
  return (...args) => {
    result ??= work(...args);
    return result;
  };
}
