import type { CelEnv, CelInput } from '@bufbuild/cel';
import { type Json, matchesPattern, type Truth, UNKNOWN } from '../operators/index.ts';
import { createComparingFunctions } from './cel-functions.ts';
import { celLibrary } from './cel-library.ts';
import { type CelNode, type CelSource, callOf, knownPathOf } from './cel-tree.ts';
import type { Expression, Path } from './condition.ts';

let environment: CelEnv | undefined;

/** Comparisons and patterns are ours, so that they mean the same here as the operators do, within the same bounds. */
function celEnvironment(): CelEnv {
  environment ??= celLibrary().celEnv({
    funcs: [...createComparingFunctions()],
    re2: { compile: (pattern) => ({ test: (text) => testPattern(text, pattern) }) },
  });
  return environment;
}

/** Makes an expression of a part of a CEL tree, to be evaluated in memory. */
export function toExpression(node: CelNode, source: CelSource): Expression {
  const { plan, unparse } = celLibrary();
  const run = plan(celEnvironment(), node);
  const paths = readPaths(node);
  return Object.freeze({
    type: 'expression',
    source: unparse({ ...source, expr: node }),
    paths,
    evaluate(valueAt: (path: Path) => Json | undefined): Truth {
      try {
        const answer = run(toBindings(paths, valueAt));
        return typeof answer === 'boolean' ? answer : UNKNOWN;
      } catch {
        // Evaluating hands errors back as values; whatever it throws all the same is an error too, and errors are unknown.
        return UNKNOWN;
      }
    },
  });
}

/** The paths that a tree reads. Asking for the presence of an inner key reads what it would be in: presence there is no error, absence is. */
function readPaths(node: CelNode): readonly Path[] {
  const found = new Map<string, Path>();
  collectPaths(node, found);
  // The shorter first: what lies within it then comes with it.
  return [...found.values()].sort((a, b) => a.keys.length - b.keys.length);
}

function collectPaths(node: CelNode | undefined, found: Map<string, Path>): void {
  if (node === undefined) return;
  const read = knownPathOf(node);
  if (read !== undefined) {
    const path = read.presence && read.path.keys.length > 1 ? toParent(read.path) : read.path;
    found.set(path.text, path);
    return;
  }
  for (const part of partsOf(node)) collectPaths(part, found);
}

function partsOf(node: CelNode): readonly (CelNode | undefined)[] {
  const { exprKind } = node;
  switch (exprKind.case) {
    case 'selectExpr':
      return [exprKind.value.operand];
    case 'listExpr':
      return exprKind.value.elements;
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
      return [iterRange, accuInit, loopCondition, loopStep, result];
    }
    default: {
      const call = callOf(node);
      return call === undefined ? [] : [call.target, ...call.args];
    }
  }
}

function toParent({ group, keys }: Path): Path {
  const outer = keys.slice(0, -1);
  return Object.freeze({ group, keys: outer, text: [group, ...outer].join('.') });
}

type CelMap = Map<string, CelInput>;

/** Only what the expression reads, as maps: CEL never sees a JavaScript object. */
function toBindings(paths: readonly Path[], valueAt: (path: Path) => Json | undefined): Record<string, CelMap> {
  const groups = { user: new Map(), resource: new Map(), environment: new Map(), request: new Map() } satisfies Record<string, CelMap>;
  for (const path of paths) {
    const value = valueAt(path);
    if (value !== undefined) place(groups[path.group], path.keys, toCel(value));
  }
  return groups;
}

function place(into: CelMap, [key = '', ...inner]: readonly string[], value: CelInput): void {
  const there = into.get(key);
  if (inner.length === 0) into.set(key, value);
  else if (there === undefined) {
    const between: CelMap = new Map();
    into.set(key, between);
    place(between, inner, value);
  } else if (there instanceof Map) place(there as CelMap, inner, value);
}

function toCel(value: Json): CelInput {
  if (Array.isArray(value)) return value.map((item: Json) => toCel(item));
  if (typeof value !== 'object' || value === null) return value as CelInput;
  return new Map(Object.entries(value).map(([key, member]) => [key, toCel(member)]));
}

function testPattern(text: string, pattern: string): boolean {
  const answer = matchesPattern(text, pattern);
  if (answer === undefined) throw new Error('no RE2 pattern');
  return answer;
}
