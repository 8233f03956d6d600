/** Browsers, the most specific first: each also sends the marks of those after it. */
const BROWSERS: readonly (readonly [name: string, mark: RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:Chrome|HeadlessChrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+)[\d.]* (?:Mobile\/\w+ )?Safari\//],
];

/** Systems, the most specific first. */
const SYSTEMS: readonly (readonly [name: string, mark: RegExp])[] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMacintosh\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
];

/** A program such as `curl/8.5.0`, at the beginning of the text. */
const PROGRAM = /^([\w.-]{1,40})\/(\d+(?:\.\d+)?)/;

/**
 * Returns the browser and the system that a `User-Agent` header names: `Chrome 140 on Windows`. Another program is named with its version; any
 * other text is returned as it is.
 */
export function describeUserAgent(userAgent: string): string {
  const [browser, mark] = BROWSERS.find(([, pattern]) => pattern.test(userAgent)) ?? [];
  if (browser === undefined || mark === undefined) {
    const [, program, version] = PROGRAM.exec(userAgent) ?? [];
    return program === undefined || program === 'Mozilla' ? userAgent : `${program} ${version}`;
  }
  const system = SYSTEMS.find(([, pattern]) => pattern.test(userAgent))?.[0];
  return `${browser} ${mark.exec(userAgent)?.[1]}${system === undefined ? '' : ` on ${system}`}`;
}
