/**
 * What keeps a browser from doing more with an answer than show it to whoever asked: the list of OWASP's Secure Headers Project. Whoever
 * ends TLS in front of this process decides on Strict-Transport-Security, for the whole domain.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'DENY',
  'x-permitted-cross-domain-policies': 'none',
  // What it turned on could be made to leak what it was to protect.
  'x-xss-protection': '0',
});
