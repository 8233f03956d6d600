/** The parameters of the sign-in screen. */
export interface SignInSearch {
  /** The address to return to. */
  readonly back?: string;
  /** The id of the user whose session of the tab has ended. */
  readonly user?: string;
  /** True if an earlier session has ended without signing out. */
  readonly ended?: boolean;
}

/** Returns true for an address that opens after the sign-in. Only one inside the console: a foreign one would be a redirect to another site. */
export function isReturnPath(back: unknown): back is string {
  return typeof back === 'string' && /^\/(?![/\\])/.test(back);
}

/** Returns the address that opens after the sign-in. Its fragment, which may contain a draft, is left out for another user than before. */
export function returnAddress({ back = '/', user }: SignInSearch, userId: string): string {
  return user === undefined || user === userId ? back : back.replace(/#.*$/s, '');
}
