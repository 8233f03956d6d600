/**
 * Replaces an invalid language of the browser by English. Chromium has the language `en-US@posix` with LANG=C, and uPlot, which formats numbers in
 * the language of the browser, then fails when it is loaded. Must be imported before uPlot.
 */
try {
  new Intl.Locale(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });
}
