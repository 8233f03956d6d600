import { parse } from 'bowser';
import { commonTexts } from '../texts/common.ts';

/** Returns the browser and the system that a `User-Agent` header names, `Chrome 140 on Windows`; the whole header if it names no browser. */
export function describeUserAgent(userAgent: string): string {
  if (userAgent === '') return '';
  const { browser, os } = parse(userAgent);
  const [version] = browser.version?.split('.') ?? [];
  if (!browser.name || !version) return userAgent;
  const text = `${browser.name} ${version}`;
  return os.name ? text + commonTexts.onSystem + os.name : text;
}
