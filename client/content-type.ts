/** Throws a TypeError if the body of a response has another type: the page of another service is a mistake, and no failure of the network. */
export function requireType({ headers }: Response, expected: RegExp, name: string): void {
  const type = headers.get('content-type');
  // An absent type is the text "null" for the expression.
  if (!expected.test(type as string)) throw new TypeError(`expected ${name}, given ${type}`);
}
