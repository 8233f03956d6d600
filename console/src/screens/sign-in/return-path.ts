/** Returns true for an address that opens after the sign-in. Only one inside the console: a foreign one would be a redirect to another site. */
export function isReturnPath(back: unknown): back is string {
  return typeof back === 'string' && /^\/(?![/\\])/.test(back);
}
