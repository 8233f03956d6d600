import type { parse } from '@bufbuild/cel';
import { isGroup, type ParsedPath, parsePath } from '../attribute-path.ts';
import type { Path } from '../condition.ts';

/** A parsed expression, with what it takes to write parts of it back as text. */
export type CelSource = ReturnType<typeof parse>;

/** A node of CEL's syntax tree. */
export type CelNode = CelSource['expr'];

/** A call of a function or operator: `a == b` is `_==_` of two arguments, `a.f(b)` is `f` with a target. */
export interface CelCall {
  readonly name: string;
  readonly target: CelNode | undefined;
  readonly args: readonly CelNode[];
}

/** The name by which CEL's tree calls reading by key. */
export const INDEX = '_[_]';

/** The name by which CEL's tree calls `a ? b : c`. */
export const CONDITIONAL = '_?_:_';

/** The call that a node is. */
export function callOf({ exprKind }: CelNode): CelCall | undefined {
  return exprKind.case === 'callExpr'
    ? { name: exprKind.value.function, target: exprKind.value.target, args: exprKind.value.args }
    : undefined;
}

/** Keys that are written out after one of the context's groups: `user.department`, `resource["a b"]`. */
export interface CelPath {
  readonly parsed: ParsedPath;
  /** Whether it asks for presence: `has(user.department)`. */
  readonly presence: boolean;
}

/** The path that a node reads; undefined where it is no path. */
export function parsePathNode(node: CelNode): CelPath | undefined {
  const keys: string[] = [];
  let presence = false;
  for (let at: CelNode | undefined = node; at !== undefined; ) {
    const { exprKind }: CelNode = at;
    if (exprKind.case === 'identExpr') {
      if (!isGroup(exprKind.value.name)) return undefined;
      const dotted = keys.find((key) => key.includes('.'));
      if (dotted !== undefined) return { parsed: { problem: `expected a key without a dot, given "${dotted.slice(0, 64)}"` }, presence };
      return { parsed: parsePath([exprKind.value.name, ...keys].join('.')), presence };
    }
    const step = stepOf(at);
    // What is asked of the answer of `has(…)` is no path.
    if (step === undefined || (step.presence && at !== node)) return undefined;
    presence ||= step.presence;
    keys.unshift(step.key);
    at = step.operand;
  }
  return undefined;
}

/** The path where it can be read. */
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

/** The parts of a node. */
export function partsOf(node: CelNode): readonly CelNode[] {
  const parts: CelNode[] = [];
  mapParts(node, (part) => {
    parts.push(part);
    return part;
  });
  return parts;
}

/** The same node with other parts; one without parts as it is. */
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
