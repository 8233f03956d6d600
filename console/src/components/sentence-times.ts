/** Times in sentences of the API. */

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z/g;

/** Returns a sentence of the API with its times in local time, as the other times of the page. */
export function withLocalTimes(sentence: string): string {
  return sentence.replaceAll(INSTANT, (instant) => {
    const time = Date.parse(instant);
    return Number.isNaN(time) ? instant : new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  });
}
