import type { parse } from '@bufbuild/cel';
import type { Json } from '../../operators/index.ts';
import { isGroup, type ParsedPath, parsePath } from '../attribute-path.ts';
import type { Path } from '../condition.ts';

/** A parsed expression, with the source positions that unparsing needs. */
export type CelSource = ReturnType<typeof parse>;

/** A node of CEL's syntax tree. */
export type CelNode = CelSource['expr'];

/** A call of a function or operator: `a == b` is `_==_` with two arguments, `a.f(b)` is `f` with a target. */
export interface CelCall {
  readonly name: string;
  readonly target: CelNode | undefined;
  readonly args: readonly CelNode[];
}

/** The name of `a[b]` in CEL's tree. */
export const INDEX = '_[_]';

/** The name of `a ? b : c` in CEL's tree. */
export const CONDITIONAL = '_?_:_';

/** Returns the call of a node; undefined if it is not a call. */
export function callOf({ exprKind }: CelNode): CelCall | undefined {
  return exprKind.case === 'callExpr'
    ? { name: exprKind.value.function, target: exprKind.value.target, args: exprKind.value.args }
    : undefined;
}

/** A path in an expression: a group of the context, or the name of related records, and literal keys, such as `user.department` or `resource["a b"]`. */
export interface CelPath {
  readonly parsed: ParsedPath;
  /** True if the node tests for presence: `has(user.department)`. */
  readonly presence: boolean;
}

/** The beginning of a name that stands for related records. A name in an expression contains no space. */
const ALIAS_MARK = 'related ';

/** Returns a copy of a node in which the name of related records is marked, so that paths may begin with it. */
export function markAlias(node: CelNode, as: string): CelNode {
  const { exprKind } = node;
  if (exprKind.case !== 'identExpr') return mapParts(node, (part) => markAlias(part, as));
  return exprKind.value.name === as ? withName(node, `${ALIAS_MARK}${as}`) : node;
}

/** Returns a copy of a node without marks, to print it. */
export function withoutMarks(node: CelNode): CelNode {
  const name = plainName(node);
  return name === undefined ? mapParts(node, withoutMarks) : withName(node, name);
}

/** Returns the name that a node consists of, without its mark; undefined for another node. */
export function plainName({ exprKind }: CelNode): string | undefined {
  if (exprKind.case !== 'identExpr') return undefined;
  return aliasOf(exprKind.value.name) ?? exprKind.value.name;
}

function withName(node: CelNode, name: string): CelNode {
  return { ...node, exprKind: { case: 'identExpr', value: { $typeName: 'cel.expr.Expr.Ident', name } } };
}

function aliasOf(name: string): string | undefined {
  return name.startsWith(ALIAS_MARK) ? name.slice(ALIAS_MARK.length) : undefined;
}

/** Parses a node as a path, which may be invalid. Returns undefined if the node is not a path. */
export function parsePathNode(node: CelNode): CelPath | undefined {
  const keys: string[] = [];
  let presence = false;
  for (let at: CelNode | undefined = node; at !== undefined; ) {
    const { exprKind }: CelNode = at;
    if (exprKind.case === 'identExpr') {
      const alias = aliasOf(exprKind.value.name);
      if (alias === undefined && !isGroup(exprKind.value.name)) return undefined;
      const dotted = keys.find((key) => key.includes('.'));
      if (dotted !== undefined) return { parsed: { problem: `expected a key without a dot, given "${dotted.slice(0, 64)}"` }, presence };
      const text = [alias ?? exprKind.value.name, ...keys].join('.');
      return { parsed: parsePath(text, { aliases: alias === undefined ? [] : [alias] }), presence };
    }
    const step = stepOf(at);
    // A member of the result of `has(…)` is not a path.
    if (step === undefined || (step.presence && at !== node)) return undefined;
    presence ||= step.presence;
    keys.unshift(step.key);
    at = step.operand;
  }
  return undefined;
}

/** Returns the path of a node; undefined if the node is not a path or the path is invalid. */
export function pathOf(node: CelNode): { readonly path: Path; readonly presence: boolean } | undefined {
  const found = parsePathNode(node);
  return found !== undefined && 'path' in found.parsed ? { path: found.parsed.path, presence: found.presence } : undefined;
}

function stepOf(node: CelNode): { key: string; presence: boolean; operand: CelNode | undefined } | undefined {
  const { exprKind } = node;
  if (exprKind.case === 'selectExpr')
    return { key: exprKind.value.field, presence: exprKind.value.testOnly, operand: exprKind.value.operand };
  const call = callOf(node);
  const key = call?.name === INDEX ? call.args[1]?.exprKind : undefined;
  if (key?.case !== 'constExpr' || key.value.constantKind.case !== 'stringValue') return undefined;
  return { key: key.value.constantKind.value, presence: false, operand: call?.args[0] };
}

/** Returns the child nodes of a node. */
export function partsOf(node: CelNode): readonly CelNode[] {
  const parts: CelNode[] = [];
  mapParts(node, (part) => {
    parts.push(part);
    return part;
  });
  return parts;
}

/** Returns a copy of a node with mapped child nodes; the node itself if it has none. */
export function mapParts(node: CelNode, map: (part: CelNode) => CelNode): CelNode {
  const { exprKind } = node;
  const optional = (part: CelNode | undefined): CelNode | undefined => part && map(part);
  switch (exprKind.case) {
    case 'selectExpr': {
      const { value } = exprKind;
      return { ...node, exprKind: { case: 'selectExpr', value: { ...value, operand: optional(value.operand) } } };
    }
    case 'listExpr': {
      const { value } = exprKind;
      return { ...node, exprKind: { case: 'listExpr', value: { ...value, elements: value.elements.map(map) } } };
    }
    case 'callExpr': {
      const { value } = exprKind;
      return { ...node, exprKind: { case: 'callExpr', value: { ...value, target: optional(value.target), args: value.args.map(map) } } };
    }
    case 'comprehensionExpr': {
      const { value } = exprKind;
      const parts = {
        iterRange: optional(value.iterRange),
        accuInit: optional(value.accuInit),
        loopCondition: optional(value.loopCondition),
        loopStep: optional(value.loopStep),
        result: optional(value.result),
      };
      return { ...node, exprKind: { case: 'comprehensionExpr', value: { ...value, ...parts } } };
    }
    default:
      return node;
  }
}

/** Returns true if the values at a path differ between records: those of the record, or those of related records. */
export function isRecordPath({ group }: Path): boolean {
  return group === 'resource' || group === 'related';
}

/** Returns the value of a literal; undefined for other nodes, and for numbers that JSON cannot represent exactly. */
export function literalOf({ exprKind }: CelNode): { readonly value: Json } | undefined {
  if (exprKind.case !== 'constExpr') return undefined;
  const { constantKind } = exprKind.value;
  switch (constantKind.case) {
    case 'nullValue':
      return { value: null };
    case 'stringValue':
    case 'boolValue':
      return { value: constantKind.value };
    case 'doubleValue':
      return Number.isFinite(constantKind.value) ? { value: constantKind.value } : undefined;
    case 'int64Value':
    case 'uint64Value': {
      const value = Number(constantKind.value);
      return Number.isSafeInteger(value) ? { value } : undefined;
    }
    default:
      return undefined;
  }
}
