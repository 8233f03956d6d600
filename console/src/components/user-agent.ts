import { parse } from 'bowser';

/** Returns the browser and the system that a `User-Agent` header names, `Chrome 140 on Windows`; the whole header if it names no browser. */
export function describeUserAgent(userAgent: string): string {
  if (userAgent === '') return '';
  const { browser, os } = parse(userAgent);
  const [version] = browser.version?.split('.') ?? [];
  if (!browser.name || !version) return userAgent;
  return `${browser.name} ${version}${os.name ? ` on ${os.name}` : ''}`;
}
