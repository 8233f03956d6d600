/** Returns the address that opens after the sign-in. Only one inside the console: a foreign one would be a redirect to another site. */
export function returnPath(back: unknown): string | undefined {
  return typeof back === 'string' && /^\/(?![/\\])/.test(back) ? back : undefined;
}
