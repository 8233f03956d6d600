import { type Finding, type Rule, visit } from './rule.ts';
import type { Source } from './source.ts';

/** Words that hide the subject of a sentence or replace a standard term, each with advice. `[\s*]+` spans lines of a comment. */
const REFUSED: readonly (readonly [words: RegExp, advice: string])[] = [
  [/\b(whoever|whomever|whatever|whatsoever)\b/gi, 'name the subject: "a caller that …", "any value that …"'],
  [/\b(nobody|somebody|anybody)\b/gi, 'name the subject: "no process", "another admin", "a caller"'],
  [/\b(thereby|besides|anew|whence)\b/gi, 'use a plain word, or start a new sentence: "again", "also", "this …"'],
  [
    /\b(is|are|was|were|be|been|being)[\s*]+(told|said)\b(?![\s*]+(apart|from)\b)/gi,
    'name what happens: "receives", "logs", "reports", "documents"',
  ],
  [/\bwhat[\s*]+stands\b/gi, 'name the thing: "the applied definitions", "the stored policies"'],
  [/\bfor[\s*]+good\b/gi, 'say "permanently"'],
  [/\b(keep|keeps|kept|put|puts)[\s*]+aside\b/gi, 'say "archive", "archived"'],
  [/\bevol(ution|utions|ve|ves|ved|ving)\b/gi, 'say "migration", "migrate"'],
  [/\bforeseen\b/gi, 'say "prefetched"'],
  [/\bcrew\b/gi, 'say "worker pool"'],
  [/\bgroup[\s*]+commit\b/gi, 'say "commit batching"'],
  [/\brecord[-\s*]+keeper\b/gi, 'say "audit log"'],
  [/\bhardly[\s*]+meant\b/gi, 'say "valid but probably wrong"'],
];

/** Rules about sentences: comments, string literals and texts of elements. A string without a space is a value, not a sentence. */
export const proseRules: readonly Rule[] = [
  {
    name: 'plain-words',
    check(source, report) {
      for (const { start, end } of source.parsed.comments) reportRefused(source, { start, end }, report);
      visit(source, {
        Literal: ({ start, end, value }) => {
          if (typeof value === 'string' && value.includes(' ')) reportRefused(source, { start, end }, report);
        },
        JSXText: ({ start, end }) => reportRefused(source, { start, end }, report),
        TemplateElement: ({ start, end, value }) => {
          if (value.raw.includes(' ')) reportRefused(source, { start, end }, report);
        },
      });
    },
  },
  {
    name: 'docstring-start',
    check(source, report) {
      for (const { start, value } of source.parsed.comments) {
        const [text, word] = value.match(/^\*[\s*]*(What|Whether|Who|Where|How|Whatever|Whoever)\b/) ?? [];
        if (text === undefined || word === undefined) continue;
        const position = start + '/*'.length + text.length - word.length;
        report(position, `begin with a verb ("Returns …") or a noun ("A compiled rule."), not with ${word}`);
      }
    },
  },
];

/** Returns each refused word of a text that is not a source, such as a Markdown page. */
export function findRefusedWords(path: string, text: string): readonly Finding[] {
  return refusedWords(text).map(({ position, sentence }) => ({
    rule: 'plain-words',
    path,
    line: text.slice(0, position).split('\n').length,
    sentence,
  }));
}

function reportRefused(
  source: Source,
  { start, end }: { start: number; end: number },
  report: (position: number, sentence: string) => void,
): void {
  for (const { position, sentence } of refusedWords(source.text.slice(start, end))) report(start + position, sentence);
}

/** Finds refused words. A code span without a space is exempt: it names a value, such as the author `evolution`. */
function refusedWords(text: string): readonly { readonly position: number; readonly sentence: string }[] {
  const prose = text.replace(/`[^`\s]+`/g, (span) => ' '.repeat(span.length));
  return REFUSED.flatMap(([words, advice]) =>
    [...prose.matchAll(words)].map(({ 0: word, index }) => ({ position: index, sentence: `"${word.replace(/[\s*]+/g, ' ')}": ${advice}` })),
  );
}
