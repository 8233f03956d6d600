import { type Document, isMap, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { Json } from '../operators/index.ts';

// Each use of an anchor counts with all it holds: what is small on disk stays small in memory.
const MOST_ALIASES = 100;

/** A place in a file, both from 1. */
export interface FilePosition {
  readonly line: number;
  readonly column: number;
}

/** Where a member of a definition stands, or the nearest around it that has a place. */
export type Locate = (path: readonly (string | number)[], on: 'key' | 'value') => FilePosition;

/** A YAML (or JSON) text as plain data. */
export interface ParsedYaml {
  /** Undefined where the text is not well-formed. */
  readonly value: Json | undefined;
  readonly errors: readonly { readonly detail: string; readonly position: FilePosition }[];
  readonly locate: Locate;
}

/** Parses a text as YAML 1.2, of which JSON is a part: plain data only, no tags, no merge keys, each key once. */
export function parseYaml(text: string): ParsedYaml {
  const lines = new LineCounter();
  const toPosition = (offset: number): FilePosition => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    merge: false,
    schema: 'core',
    resolveKnownTags: false,
    logLevel: 'error',
  });
  const locate: Locate = (path, on) => toPosition(findOffset(document, path, on));
  const errors = [...document.errors, ...document.warnings].map((error) => ({
    detail: toMessage(error.message),
    position: toPosition(error.pos[0]),
  }));
  if (errors.length > 0) return { value: undefined, errors, locate };
  try {
    return { value: document.toJS({ maxAliasCount: MOST_ALIASES }) as Json, errors, locate };
  } catch (error) {
    // Aliases are only followed here: one that leads nowhere, or too many.
    const detail = error instanceof Error ? toMessage(error.message) : String(error);
    return { value: undefined, errors: [{ detail, position: { line: 1, column: 1 } }], locate };
  }
}

function findOffset(document: Document, path: readonly (string | number)[], on: 'key' | 'value'): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [depth, step] of path.entries()) {
    const found = findMember(node, step);
    if (found === undefined) break;
    const isKey = on === 'key' && depth === path.length - 1;
    offset = startOf(isKey ? found.key : found.value) ?? startOf(found.key) ?? offset;
    node = found.value;
  }
  return offset;
}

function findMember(node: unknown, step: string | number): { key: unknown; value: unknown } | undefined {
  if (isSeq(node)) {
    const value = node.items[Number(step)];
    return value === undefined ? undefined : { key: value, value };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => String((key as { value?: unknown }).value ?? key) === String(step));
  return pair === undefined ? undefined : { key: pair.key, value: pair.value };
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

function toMessage(message: string): string {
  const text = message.replace(/\.$/, '');
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}
