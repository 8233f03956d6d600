/** Parses `related(Membership, m, m.userId == user.id, m.level == "owner").atLeast(2)`, which counts related records. */
import { type Json, type JsonObject, ownValue } from '../../operators/index.ts';
import { isGroup } from '../attribute-path.ts';
import { ALWAYS, type Condition, constant, type Path } from '../condition.ts';
import type { ConditionParser, OpenRelated } from '../condition-parser.ts';
import { parseRelated } from '../parse-related.ts';
import { addMistake, type CelMistakes } from './cel-mistakes.ts';
import { type CelNode, callOf, literalOf, markAlias, partsOf, pathOf, plainName } from './cel-tree.ts';

/** The name of the macro. */
const RELATED = 'related';
/** The names of the calls that may follow the macro. */
const BOUNDS: readonly string[] = ['atLeast', 'atMost'];
const FORM = 'related(Membership, m, m.userId == user.id, m.level == "owner")';

/** A call of `related` with its bounds. */
export interface RelatedCall {
  readonly args: readonly CelNode[];
  /** The arguments of `.atLeast(…)` and `.atMost(…)`, by name. */
  readonly bounds: ReadonlyMap<string, readonly CelNode[]>;
}

/** Returns the call of `related` with the bounds that follow it; undefined for another node. */
export function relatedCallOf(node: CelNode): RelatedCall | undefined {
  const call = callOf(node);
  if (call?.name === RELATED && call.target === undefined) return { args: call.args, bounds: new Map() };
  const inner = call?.target !== undefined && BOUNDS.includes(call.name) ? relatedCallOf(call.target) : undefined;
  if (call === undefined || inner === undefined || inner.bounds.has(call.name)) return undefined;
  return { args: inner.args, bounds: new Map([...inner.bounds, [call.name, call.args]]) };
}

/** Returns true if a node or one of its parts counts related records. */
export function containsRelated(node: CelNode): boolean {
  return callOf(node)?.name === RELATED || partsOf(node).some(containsRelated);
}

/** The parts of a call, in which paths may begin with the alias. */
export interface RelatedParts {
  readonly resource: string;
  readonly as: string;
  readonly on: CelNode;
  readonly where: CelNode | undefined;
}

/** Returns the parts of a call; undefined if it has another form. */
export function relatedPartsOf({ args }: RelatedCall): RelatedParts | undefined {
  const [resourceNode, aliasNode, on, where, ...more] = args;
  const [resource, as] = [resourceNode, aliasNode].map((node) => node && plainName(node));
  if (resource === undefined || as === undefined || on === undefined || more.length > 0) return undefined;
  return { resource, as, on: markAlias(on, as), where: where && markAlias(where, as) };
}

/** Calls `read` while paths may begin with the alias of the related records. */
export function withAlias<T>({ resource, as }: RelatedParts, parser: ConditionParser, read: () => T): T {
  const described = parser.options.describeRelated?.(resource);
  const open: OpenRelated = { as, description: described !== undefined && 'problem' in described ? undefined : described };
  parser.related.push(open);
  const result = read();
  parser.related.pop();
  return result;
}

/** Returns the mistakes in the form of a call. */
export function validateForm(call: RelatedCall): readonly string[] {
  const parts = relatedPartsOf(call);
  if (parts !== undefined && isGroup(parts.as)) return [`"${parts.as}" has another meaning in paths`];
  if (parts === undefined) return [`expected a resource, a name, equalities and a condition, as in ${FORM}`];
  return [...call.bounds].flatMap(([name, args]) => {
    const value = args.length === 1 && args[0] !== undefined ? literalOf(args[0])?.value : undefined;
    return typeof value === 'number' ? [] : [`expected one integer, as in ${FORM}.${name}(2)`];
  });
}

/** The context of lowering a call. */
interface RelatedLowering {
  readonly parser: ConditionParser;
  /** The call of `related`, with its bounds. */
  readonly node: CelNode;
  readonly mistakes: CelMistakes;
  /** Lowers the condition on a related record, and adds its mistakes. */
  lower(node: CelNode, found: CelMistakes): Condition;
}

/** Lowers a call to a condition on related records. It is parsed like `{ "related": … }`, so both have the same limits and mistakes. */
export function lowerRelated(call: RelatedCall, { node, parser, mistakes, lower }: RelatedLowering): Condition {
  const parts = relatedPartsOf(call);
  const on = parts && toLinks(parts);
  if (parts === undefined || on === undefined) {
    addMistake(mistakes, `expected equalities joined with && in the third argument of related, as in ${FORM}`, parts?.on ?? node);
    return constant(null);
  }
  const { resource, as, where } = parts;
  const bounds = [...call.bounds].map(([name, [count]]) => [name, (count && literalOf(count)?.value) ?? null] as const);
  const input: JsonObject = { resource, as, on, ...(where !== undefined && { where: [true] }), ...Object.fromEntries(bounds) };
  const own: ConditionParser = { ...parser, issues: [] };
  const found: CelMistakes = new Map();
  const condition = parseRelated(input, { at: '', parser: own, parseWhere: () => (where === undefined ? ALWAYS : lower(where, found)) });
  for (const { detail } of own.issues) addMistake(mistakes, detail, node);
  for (const [detail, part] of found) addMistake(mistakes, detail, part);
  return found.size > 0 ? constant(null) : condition;
}

/** Returns the links as members of `on`; undefined if the node has another form than equalities joined with `&&`. */
function toLinks({ on, as }: RelatedParts): JsonObject | undefined {
  const links: Record<string, Json> = {};
  for (const node of conjunctsOf(on)) {
    const call = callOf(node);
    const [left, right] = call?.args ?? [];
    if (call?.name !== '_==_' || left === undefined || right === undefined) return undefined;
    const [field, other] = fieldOf(left, as) === undefined ? [fieldOf(right, as), left] : [fieldOf(left, as), right];
    const value = toLinkValue(other);
    if (field === undefined || value === undefined || ownValue(links, field) !== undefined) return undefined;
    links[field] = value;
  }
  return links;
}

function conjunctsOf(node: CelNode): readonly CelNode[] {
  const call = callOf(node);
  return call?.name === '_&&_' ? call.args.flatMap(conjunctsOf) : [node];
}

/** Returns the field of the related record that a node reads. */
function fieldOf(node: CelNode, as: string): string | undefined {
  const path = valuePathAt(node);
  return path?.group === 'related' && path.keys[0] === as && path.keys.length === 2 ? path.keys[1] : undefined;
}

/** Returns the value of a link as in JSON: a literal, or a reference. A text that would be a reference or a template there has no equivalent. */
function toLinkValue(node: CelNode): Json | undefined {
  const path = valuePathAt(node);
  if (path !== undefined) return `\${${path.text}}`;
  const value = literalOf(node)?.value;
  return typeof value === 'string' && value.includes('${') ? undefined : value;
}

function valuePathAt(node: CelNode): Path | undefined {
  const read = pathOf(node);
  return read === undefined || read.presence ? undefined : read.path;
}
