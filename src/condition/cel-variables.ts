import type { CelInput } from '@bufbuild/cel';
import type { Json } from '../operators/index.ts';
import { type CelNode, knownPathOf, mapParts } from './cel-tree.ts';
import type { ExpressionReading, Path } from './condition.ts';

/** What an expression reads at a path: the value there, or whether there is one. */
export interface CelVariable {
  readonly path: Path;
  /** `has(path)`. */
  readonly presence: boolean;
}

/** A tree in which every path has become a variable, by their names in it. */
export interface CelTemplate {
  readonly node: CelNode;
  readonly variables: ReadonlyMap<string, CelVariable>;
}

/** A longer list is as good as missing: what a loop takes must not depend on what a client sends. No list field is longer. */
const MAX_ITEMS = 10_000;

/**
 * Makes every path that a tree reads a variable of its own. CEL would follow `resource.authorId.department` into the value of
 * `resource.authorId`, which is a text; and would call it an error to ask `has(user.a.b)` of a user without `a`, where `exists`
 * says no.
 */
export function toTemplate(root: CelNode): CelTemplate {
  const variables = new Map<string, CelVariable>();
  const rewrite = (node: CelNode): CelNode => {
    const read = knownPathOf(node);
    if (read === undefined) return mapParts(node, rewrite);
    // With a space in it, no expression can say this name itself.
    const name = `${read.presence ? 'has' : 'value'} ${read.path.text}`;
    variables.set(name, read);
    return { ...node, exprKind: { case: 'identExpr', value: { $typeName: 'cel.expr.Expr.Ident', name } } };
  };
  return { node: rewrite(root), variables };
}

/** What an expression is evaluated on. */
interface CelReading extends ExpressionReading {
  /** Told of the size of each value as often as it is read. */
  spend(effort: number): void;
}

/** The variables with a value; reading any other is an error, and so unknown. */
export function toBindings(variables: ReadonlyMap<string, CelVariable>, { valueAt, kindOf, spend }: CelReading): Record<string, CelInput> {
  const bindings = Object.create(null) as Record<string, CelInput>;
  for (const [name, { path, presence }] of variables) {
    const value = valueAt(path);
    if (presence) bindings[name] = value !== undefined;
    else if (value !== undefined && !(Array.isArray(value) && value.length > MAX_ITEMS)) {
      const bound = toCel(value, kindOf(path)?.whole === true);
      const size = sizeOf(value);
      Object.defineProperty(bindings, name, {
        get(): CelInput {
          spend(size);
          return bound;
        },
      });
    }
  }
  return bindings;
}

/** Characters, items and members, those within included. */
function sizeOf(value: Json): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  return Object.entries(value).reduce((size, [key, member]) => size + key.length + sizeOf(member), 1);
}

/**
 * Converts values to lists and maps: CEL never receives a JavaScript object. Numbers are doubles, as in CEL's mapping from JSON; only
 * numbers of integer fields are ints.
 */
function toCel(value: Json, whole: boolean): CelInput {
  if (Array.isArray(value)) return value.map((item: Json) => toCel(item, whole));
  if (whole && Number.isSafeInteger(value)) return BigInt(value as number);
  if (typeof value !== 'object' || value === null) return value as CelInput;
  return new Map(Object.entries(value).map(([key, member]) => [key, toCel(member, false)]));
}
