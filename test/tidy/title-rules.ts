import type { Report, Rule } from './rule.ts';
import { visit } from './rule.ts';
import type { Source } from './source.ts';

/** Words that never begin a sentence whose subject is the code under test, or that begin a clause before its subject. */
const FRAGMENT_STARTS: ReadonlySet<string> = new Set(
  [
    'is are was were be been being has have had do did can could may might must shall should will would',
    'about above across against along amid among around as at before behind below beneath beside between beyond by despite during',
    'except for from in inside into like near of off on onto out outside over past per since through throughout to toward towards',
    'under until up upon via with within without after following',
    'and but or nor so yet if unless when whenever while whereas because although though then than that which who whose where',
    'not also too even just still again otherwise instead',
    'accept add allow answer appear apply become begin belong carry check come compare contain convert decide deny differ do end fail',
    'fit follow forget get give go grant happen hold include insert keep leave let lie lose make match mean merge occur parse pass',
    'receive reject refuse remain remove replace require return run say see send serve stay stop survive take tell',
    'throw translate use wait write',
  ].flatMap((line) => line.split(' ')),
);

/** A participle with its preposition or adverb: "refused with a code", "kept after a restart". */
const PARTICIPLE =
  /^(\w+ed|begun|bound|broken|built|chosen|done|drawn|found|given|gone|held|hidden|kept|known|lost|made|met|put|read|run|seen|sent|set|shown|split|sunk|taken|thrown|told|written) (about|after|again|against|also|as|at|because|before|by|during|even|for|from|if|in|into|like|never|not|on|once|only|through|to|together|too|under|unless|until|when|where|while|with|within|without)\b/i;

/** The calls of Vitest that return a function which takes a title. */
const WITH_ROWS = ['each', 'for'];
const WITH_CONDITION = ['skipIf', 'runIf'];
const MODIFIERS = ['only', 'skip', 'concurrent', 'sequential', 'fails', 'todo'];

/** Rules about titles of tests. Reporters, failure lists and `-t` show a title often without its `describe`. */
export const titleRules: readonly Rule[] = [
  {
    name: 'title',
    check(source, report) {
      for (const title of titlesOf(source)) {
        // A helper that registers a table of tests receives their titles.
        const isReceived = title.words.join('') === PLACEHOLDER && !source.path.endsWith('.test.ts');
        if (!isReceived) checkTitle(title, report);
      }
    },
  },
  {
    name: 'title-unique',
    check(source, report) {
      const lines = new Map<string, number>();
      for (const { text, position } of titlesOf(source)) {
        const line = lines.get(text);
        if (line === undefined) lines.set(text, source.lineOf(position));
        else report(position, `line ${line} has the same title: say how the two tests differ`);
      }
    },
  },
];

function checkTitle({ text, words, hasRows, position }: Title, report: Report): void {
  const written = words.filter((word) => word !== PLACEHOLDER);
  const [first = ''] = words;
  if (written.length === 0) report(position, 'write a sentence around the placeholders: "parses $text as $expected"');
  else if (words.length < 3) report(position, `"${text}" is too short for a sentence: name the verb, its object and the circumstance`);
  else if (FRAGMENT_STARTS.has(first.toLowerCase()) || PARTICIPLE.test(words.join(' ')))
    report(position, `"${first}" does not begin a sentence: begin with a verb ("returns …", "refuses …") or with the subject`);
  else if (text.endsWith('.') && !text.endsWith('..')) report(position, 'omit the full stop');
  else if (hasRows && written.length === words.length) report(position, 'add a placeholder: the title of each row must be unique');
}

interface Title {
  /** The source of the title, without its quotes. */
  readonly text: string;
  /** The title with a mark for each placeholder. */
  readonly marked: string;
  readonly words: readonly string[];
  readonly hasRows: boolean;
  readonly position: number;
}

const PLACEHOLDER = '\uFFFC';

/** Returns true if a source has a test of this name: its title, or its title after those of its `describe` blocks. */
export function hasTest(source: Source, name: string): boolean {
  const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return titlesOf(source).some(({ marked }) => new RegExp(`(^| )${marked.split(PLACEHOLDER).map(escaped).join('.*')}$`, 's').test(name));
}

/** The titles of each source, because several rules and the tests of mutations need them. */
const titlesBySource = new WeakMap<Source, readonly Title[]>();

function titlesOf(source: Source): readonly Title[] {
  const known = titlesBySource.get(source);
  if (known !== undefined) return known;
  const titles: Title[] = [];
  titlesBySource.set(source, titles);
  if (!source.text.includes(" from 'vitest';")) return titles;
  visit(source, {
    CallExpression({ start, callee, arguments: [title] }) {
      const calls = testCalls(callee);
      if (calls === undefined || title === undefined || [...WITH_ROWS, ...WITH_CONDITION].includes(calls.at(-1) ?? '')) return;
      const hasRows = calls.some((name) => WITH_ROWS.includes(name.replace('()', '')));
      const marked = hasRows ? readTitle(title).replace(/%[sdifjoO#]|\$[\w#][\w.]*/g, PLACEHOLDER) : readTitle(title);
      const text = source.text.slice(title.start, title.end).replace(/^(['"`])(.*)\1$/s, '$2');
      titles.push({ text, marked, words: toWords(marked), hasRows, position: start });
    },
  });
  return titles;
}

/** Returns a title with a mark for each expression in it. */
function readTitle(title: Node): string {
  const { value, quasis } = title as Node & { value?: unknown; quasis?: readonly { readonly value: { readonly cooked: string } }[] };
  if (typeof value === 'string') return value;
  return quasis?.map((part) => part.value.cooked).join(PLACEHOLDER) ?? PLACEHOLDER;
}

/** Splits a title into words. A word with a placeholder, such as `"$name"`, is a placeholder. */
function toWords(marked: string): readonly string[] {
  const words = marked.split(/\s+/).filter((word) => /[\p{L}\p{N}\uFFFC]/u.test(word));
  return words.map((word) => (word.includes(PLACEHOLDER) ? PLACEHOLDER : word));
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** Returns the calls between `it` or `test` and a title: `['each()']` for `it.each(rows)`. Returns undefined for another function. */
function testCalls(callee: Node): readonly string[] | undefined {
  const {
    name,
    object,
    property,
    callee: called,
    tag,
  } = callee as Node & Partial<Record<'object' | 'property' | 'callee' | 'tag', Node>> & { name?: string };
  if (callee.type === 'Identifier') return name === 'it' || name === 'test' ? [] : undefined;
  const inner = object ?? called ?? tag;
  const before = inner === undefined ? undefined : testCalls(inner);
  if (before === undefined) return undefined;
  if (callee.type !== 'MemberExpression') return [...before.slice(0, -1), `${before.at(-1)}()`];
  const member = property !== undefined && 'name' in property ? String(property.name) : '';
  return [...MODIFIERS, ...WITH_ROWS, ...WITH_CONDITION].includes(member) ? [...before, member] : undefined;
}
