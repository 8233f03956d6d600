/** Drafts as JSON or YAML text. */
import { isMap, isScalar, isSeq, parseDocument, stringify } from 'yaml';
import type { CodeMistake } from '../../components/code/code-editor-props.ts';
import { isRecord } from '../../components/condition/condition-json.ts';
import { parseJson } from '../../components/strict-json.ts';
import { policyTexts } from '../../texts/policy.ts';
import type { DraftJson, PolicyText } from './policy-draft.ts';

type TextFormat = PolicyText['format'];

/** A draft that was read from a text, or the first mistake in it. */
export type ParsedText = { readonly draft: DraftJson } | { readonly mistake: CodeMistake };

/** Returns a draft as text. */
export function printPolicy(draft: unknown, format: TextFormat): string {
  return format === 'json' ? `${JSON.stringify(draft, null, 2)}\n` : stringify(draft, { lineWidth: 120 });
}

/** Reads a draft from its text. */
export function parsePolicy(text: string, format: TextFormat): ParsedText {
  const whole = { from: 0, to: text.length, severity: 'error' as const };
  if (format === 'json') {
    try {
      const draft = parseJson(text);
      return isRecord(draft) ? { draft } : { mistake: { ...whole, message: policyTexts.text.notAnObject } };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { mistake: { ...positionIn(text), message, severity: 'error' } };
    }
  }
  const document = parseDocument(text, { uniqueKeys: true });
  const [first] = document.errors;
  if (first !== undefined) return { mistake: { from: first.pos[0], to: first.pos[1], message: first.message, severity: 'error' } };
  try {
    // Aliases are limited, because a short text can otherwise become a large one.
    const draft: unknown = document.toJS({ maxAliasCount: 100 });
    return isRecord(draft) ? { draft } : { mistake: { ...whole, message: policyTexts.text.notAnObject } };
  } catch (error) {
    return { mistake: { ...whole, message: error instanceof Error ? error.message : String(error) } };
  }
}

/** Returns the place of the first syntax error in a JSON text. YAML contains JSON, so its parser finds it. */
function positionIn(text: string): { readonly from: number; readonly to: number } {
  const [first] = parseDocument(text).errors;
  return first === undefined ? { from: 0, to: text.length } : { from: first.pos[0], to: first.pos[1] };
}

/** Returns the place of a member in the text, such as `rules.0.conditions.1.value`; of its nearest parent if it is absent. */
export function locateMember(text: string, path: string): { readonly from: number; readonly to: number } {
  const document = parseDocument(text);
  let node: unknown = document.contents;
  let range = { from: 0, to: text.indexOf('\n') < 0 ? text.length : text.indexOf('\n') };
  for (const name of path === '' ? [] : path.split('.')) {
    const next = childOf(node, name);
    if (next === undefined) break;
    node = next.value;
    range = { from: next.from, to: next.to };
  }
  return range;
}

interface Child {
  readonly value: unknown;
  readonly from: number;
  readonly to: number;
}

function childOf(node: unknown, name: string): Child | undefined {
  if (isSeq(node)) {
    const value = node.items[Number(name)];
    const [from, to] = rangeOf(value);
    return value === undefined ? undefined : { value, from, to };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === name);
  const [from, to] = isScalar(pair?.value) ? rangeOf(pair.value) : rangeOf(pair?.key);
  return pair === undefined ? undefined : { value: pair.value, from, to };
}

function rangeOf(node: unknown): readonly [number, number] {
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
  return Array.isArray(range) ? [Number(range[0]), Number(range[1])] : [0, 0];
}
