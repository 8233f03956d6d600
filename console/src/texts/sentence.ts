/** Matches characters that change the order of the text around them: those of scripts that run from right to left, and controls of the direction. */
const REORDERS = /[\p{Bidi_Control}\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

const [ISOLATE, END_OF_ISOLATE] = ['\u2068', '\u2069'];
/** Characters that begin an isolate. */
const BEGINNINGS: ReadonlySet<string> = new Set(['\u2066', '\u2067', ISOLATE]);

/**
 * Returns a sentence in which texts of users cannot change the order of the other words: `sentence\`Delete ${name}?\``. All texts of the console
 * that contain values are written with it.
 */
export function sentence(words: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return words.reduce((text, next, index) => `${text}${isolate(String(values[index - 1] ?? ''))}${next}`);
}

/**
 * Encloses a text in an isolate of the Unicode bidirectional algorithm, if it has characters that change the order. Other texts stay as they are,
 * because their order in an English sentence is right, and because invisible characters would be copied with them.
 */
export function isolate(text: string): string {
  return REORDERS.test(text) ? `${ISOLATE}${balance(text)}${END_OF_ISOLATE}` : text;
}

/**
 * Returns a sentence of the API in which names of users cannot change the order of the other words. The API writes names in quotes, so each isolate
 * ends at the next quote at the latest, also for a name that contains quotes.
 */
export function isolateNames(text: string): string {
  if (!REORDERS.test(text)) return text;
  const parts = text.split('"');
  return parts.map((part, index) => (index % 2 === 1 ? isolate(part) : isolateFromFirst(part))).join('"');
}

/** Isolates a text that may begin with words of the API, from the first character on that changes the order. */
function isolateFromFirst(text: string): string {
  const first = text.search(REORDERS);
  return first < 0 ? text : `${text.slice(0, first)}${isolate(text.slice(first))}`;
}

/** Removes ends of isolates that the text has not begun, because they would end the isolate around it, and adds those that it lacks. */
function balance(text: string): string {
  let depth = 0;
  let balanced = '';
  for (const character of text) {
    if (character === END_OF_ISOLATE && depth === 0) continue;
    if (character === END_OF_ISOLATE) depth--;
    if (BEGINNINGS.has(character)) depth++;
    balanced += character;
  }
  return balanced + END_OF_ISOLATE.repeat(depth);
}
