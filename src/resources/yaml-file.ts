import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml';
import { memoize } from '../memoize.ts';
import type { Json } from '../operators/index.ts';
import { quote } from './definition-names.ts';

// Limits the expansion of anchors, so that a small file stays small in memory.
const MAX_ALIASES = 100;
/** Maximum number of reported mistakes per file: a file that is not YAML can have a mistake in every character. */
const MAX_ERRORS = 20;

/** The mistake of a text with several documents. */
export const SEVERAL_DOCUMENTS = 'expected one document, found another after ---';

/** A position in a file; line and column count from 1. */
export interface FilePosition {
  readonly line: number;
  readonly column: number;
}

/** The position of a member. */
export interface MemberPosition extends FilePosition {
  /** The position of the member in the anchored node (`&name`), if the path leads through an alias (`*name`). `position` is then that of the alias. */
  readonly anchored?: FilePosition;
}

/** Returns the position of a member of a definition, or of the nearest enclosing node. */
export type Locate = (path: readonly (string | number)[], on: 'key' | 'value') => MemberPosition;

/** A parsed YAML or JSON text. */
export interface ParsedYaml {
  /** Undefined if the text is not well-formed. */
  readonly value: Json | undefined;
  readonly errors: readonly { readonly detail: string; readonly position: FilePosition }[];
  readonly locate: Locate;
}

/** Parses a text as one document of YAML 1.2, which includes JSON. Refuses tags, merge keys and duplicate keys. */
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
    // The library compares each key with all earlier keys, which can take minutes for one file. See `findRefusedKeys`.
    uniqueKeys: false,
    merge: false,
    schema: 'core',
    resolveKnownTags: false,
    logLevel: 'error',
  });
  const locate: Locate = (path, on) => {
    const { offset, anchored } = findOffset(document, path, on);
    return { ...toPosition(offset), ...(anchored !== undefined && { anchored: toPosition(anchored) }) };
  };
  const found = [...document.errors, ...document.warnings].map(({ code, message, pos: [offset] }) => ({
    message: code === 'MULTIPLE_DOCS' ? SEVERAL_DOCUMENTS : message,
    offset,
  }));
  const mistakes = found.length > 0 ? found : [...findRefusedKeys(document), ...findUnresolved(document)];
  const errors = mistakes.slice(0, MAX_ERRORS).map(({ message, offset }) => ({ detail: toMessage(message), position: toPosition(offset) }));
  if (errors.length > 0) return { value: undefined, errors, locate };
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) as Json, errors, locate };
  } catch (error) {
    // Aliases are resolved here, so too many aliases are reported here.
    const detail = error instanceof Error ? toMessage(error.message) : String(error);
    return { value: undefined, errors: [{ detail, position: { line: 1, column: 1 } }], locate };
  }
}

interface Misplaced {
  readonly message: string;
  readonly offset: number;
}

const MERGE_KEY = 'merge keys (<<) are not supported: repeat the members, or use an alias for a whole value';

/** Finds duplicate keys and merge keys of mappings. */
function findRefusedKeys(document: Document): readonly Misplaced[] {
  const refused: Misplaced[] = [];
  visit(document, {
    Map(_, { items }) {
      const known = new Set<unknown>();
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key;
        if (isScalar(key) && key.type === 'PLAIN' && name === '<<') refused.push({ message: MERGE_KEY, offset: startOf(key) ?? 0 });
        else if (known.has(name)) refused.push({ message: `${quote(String(name))} was given twice`, offset: startOf(key) ?? 0 });
        known.add(name);
      }
    },
  });
  return refused;
}

/** Finds aliases without an anchor before them. */
function findUnresolved(document: Document): readonly Misplaced[] {
  const anchors = new Set<string>();
  const unresolved: Misplaced[] = [];
  visit(document, {
    Value(_, { anchor }) {
      if (anchor !== undefined) anchors.add(anchor);
    },
    Alias(_, alias) {
      if (!anchors.has(alias.source)) unresolved.push({ message: withoutAnchor(alias.source), offset: startOf(alias) ?? 0 });
    },
  });
  return unresolved;
}

const withoutAnchor = (name: string): string => `unresolved alias ${quote(name)}: a text that begins with * needs quotes`;

interface MemberOffset {
  readonly offset: number;
  /** The offset in the anchored node, if the path leads through an alias. */
  readonly anchored?: number | undefined;
}

function findOffset(document: Document, path: readonly (string | number)[], on: 'key' | 'value'): MemberOffset {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  let alias: number | undefined;
  for (const [depth, step] of path.entries()) {
    if (isAlias(node)) {
      alias ??= offset;
      node = anchoredNode(node, document);
    }
    const found = findMember(node, step);
    if (found === undefined) break;
    const isKey = on === 'key' && depth === path.length - 1;
    offset = startOf(isKey ? found.key : found.value) ?? startOf(found.key) ?? offset;
    node = found.value;
  }
  if (!isAlias(node)) return alias === undefined ? { offset } : { offset: alias, anchored: offset };
  // The alias itself is the member.
  return { offset: alias ?? offset, anchored: startOf(anchoredNode(node, document)) };
}

/** The anchored nodes of aliases, because finding one searches the document. */
const anchoredNodes = new WeakMap<Alias, Node | undefined>();

function anchoredNode(alias: Alias, document: Document): Node | undefined {
  return memoize(anchoredNodes, alias, () => alias.resolve(document));
}

interface Member {
  readonly key: unknown;
  readonly value: unknown;
}

function findMember(node: unknown, step: string | number): Member | undefined {
  if (isSeq(node)) {
    const value = node.items[Number(step)];
    return value === undefined ? undefined : { key: value, value };
  }
  if (!isMap(node)) return undefined;
  return memoize(membersOf, node, () => indexMembers(node)).get(String(step));
}

/** Members of mappings by key, because a file may have as many mistakes as members and each needs its position. */
const membersOf = new WeakMap<YAMLMap, ReadonlyMap<string, Member>>();

function indexMembers({ items }: YAMLMap): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>();
  for (const { key, value } of items) {
    const name = String((key as { value?: unknown }).value ?? key);
    if (!members.has(name)) members.set(name, { key, value });
  }
  return members;
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

function toMessage(message: string): string {
  if (/call stack/i.test(message)) return 'expected fewer levels of nesting';
  if (/alias cannot be an empty string/i.test(message)) return 'a text that begins with * needs quotes: "*"';
  const text = message.replace(/\.$/, '');
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}
