/** The page's part of the content security policy: the nonce of its styles, and the policy for markup that scripts write. */
import { setNonce } from 'get-nonce';

interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(markup: string): string }): unknown;
}

/** Returns the nonce that the service gave this page. */
export function contentNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
}

/** Refuses all markup that scripts write, except style sheets, which contain no tag. Passes the nonce to the styles of the scroll lock. */
export function protectMarkup(): void {
  setNonce(contentNonce());
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  trustedTypes?.createPolicy('default', {
    createHTML(markup) {
      if (markup.includes('<')) throw new TypeError('the console writes no markup');
      return markup;
    },
  });
}
