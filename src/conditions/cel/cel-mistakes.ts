/** The mistakes of an expression, and their places in its text. */
import type { TextRange } from '../../errors.ts';
import { type CelToken, tokensOf } from './cel-tokens.ts';
import { type CelNode, type CelSource, partsOf } from './cel-tree.ts';

/** The mistakes of an expression, each once, with the part of the expression in which it was found first. */
export type CelMistakes = Map<string, CelNode>;

/** Adds a mistake. */
export function addMistake(mistakes: CelMistakes, detail: string, node: CelNode): void {
  if (!mistakes.has(detail)) mistakes.set(detail, node);
}

/** Returns a function that finds the parts of an expression in its text. */
export function createLocator(text: string, { sourceInfo }: CelSource): (node: CelNode) => TextRange | undefined {
  const tokens = tokensOf(text);
  return (node) => {
    const offsets = offsetsIn(node, sourceInfo?.positions ?? {});
    if (offsets.length === 0) return undefined;
    const [first, last] = [Math.min(...offsets), Math.max(...offsets)].map((offset) => tokens.findIndex(({ end }) => end > offset));
    return first === undefined || last === undefined || last < 0 ? undefined : toRange(text, tokens, { first, last });
  };
}

/** Returns the word or operator at which the parser of CEL stopped; the last one at the end of the text; undefined for other errors. */
export function rangeOfSyntaxError(text: string, error: unknown): TextRange | undefined {
  const { location } = error as { readonly location?: { readonly start?: { readonly offset?: unknown } } };
  const offset = location?.start?.offset;
  if (typeof offset !== 'number') return undefined;
  const tokens = tokensOf(text);
  const { start, end } = tokens.find((token) => token.end > offset) ?? tokens.at(-1) ?? {};
  return start === undefined || end === undefined ? undefined : { start, end };
}

/** Returns the positions of a node and its parts. The position of a call or a member is that of its operator, which can follow its parts. */
function offsetsIn(node: CelNode, positions: Readonly<Record<string, number>>): readonly number[] {
  const own = positions[String(node.id)];
  return [...(own === undefined ? [] : [own]), ...partsOf(node).flatMap((part) => offsetsIn(part, positions))];
}

/** The first and the last token of a part of an expression. */
interface TokenSpan {
  readonly first: number;
  readonly last: number;
}

/** Returns the range of a part: with the name behind its last dot, the arguments of a call, and the brackets that belong to those inside. */
function toRange(text: string, tokens: readonly CelToken[], { first, last }: TokenSpan): TextRange {
  const textOf = (index: number): string => text.slice(tokens[index]?.start, tokens[index]?.end);
  let end = textOf(last) === '.' ? last + 1 : last;
  if (/^\w/.test(textOf(end)) && tokens[end + 1] !== undefined && textOf(end + 1) === '(') end++;
  let depth = 0;
  let lowest = 0;
  for (const { nesting } of tokens.slice(first, end + 1)) {
    depth += nesting;
    lowest = Math.min(lowest, depth);
  }
  for (let open = depth - lowest; open > 0 && end < tokens.length - 1; ) open += tokens[++end]?.nesting ?? 0;
  let start = first;
  for (let missing = -lowest; missing > 0 && start > 0; ) missing -= tokens[--start]?.nesting ?? 0;
  return { start: tokens[start]?.start ?? 0, end: tokens[Math.min(end, tokens.length - 1)]?.end ?? text.length };
}
