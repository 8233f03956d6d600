/** The values of the right sides of comparisons in a scope. */
import { type Json, MISSING } from '../operators/index.ts';
import { type ExpressionInput, type Operand, type Path, type Scope, UNRESOLVED } from './condition.ts';

/** Returns the value of an operand in a scope; MISSING if it refers to a missing value, UNRESOLVED if it depends on an unresolved path. */
export type OperandResolver = (scope: Scope) => Json | undefined | typeof UNRESOLVED;

/** The value that replaces a missing item of an array. Every comparison with the value is unknown. */
export const INCOMPARABLE: Json = Object.freeze({});

/** Returns the value of an operand in `scope`. */
export function resolveOperand(operand: Operand, scope: Scope): ReturnType<OperandResolver> {
  return compileOperand(operand)(scope);
}

/** Returns the values of the paths that an expression reads; UNRESOLVED if a path is unresolved. */
export function resolvePaths(paths: readonly Path[], scope: Scope): ExpressionInput | typeof UNRESOLVED {
  const values = new Map<string, Json | undefined>();
  for (const path of paths) {
    const value = scope.valueOf(path);
    if (value === UNRESOLVED) return UNRESOLVED;
    values.set(path.text, value);
  }
  return { valueAt: ({ text }) => values.get(text), kindOf: (path) => scope.kindOf(path) };
}

/** Creates the resolver of an operand. Literals, and arrays of literals, are evaluated in advance. */
export function compileOperand(operand: Operand): OperandResolver {
  switch (operand.type) {
    case 'literal':
      return () => operand.value;
    case 'reference':
      return (scope) => scope.valueOf(operand.path);
    case 'template':
      return (scope) => resolveTemplate(operand.parts, scope);
    case 'array':
      return compileItems(operand.items);
    case 'computed':
      return (scope) => {
        const values = resolvePaths(operand.paths, scope);
        return values === UNRESOLVED ? UNRESOLVED : operand.evaluate(values);
      };
  }
}

function compileItems(operands: readonly Operand[]): OperandResolver {
  const literals = Object.freeze(operands.filter((operand) => operand.type === 'literal').map(({ value }) => value));
  if (literals.length === operands.length) return () => literals;
  const resolvers = operands.map(compileOperand);
  return (scope) => {
    const items: Json[] = [];
    for (const resolve of resolvers) {
      const item = resolve(scope);
      if (item === UNRESOLVED) return UNRESOLVED;
      items.push(item ?? (item === null ? null : INCOMPARABLE));
    }
    return items;
  };
}

function resolveTemplate(parts: readonly (string | Path)[], scope: Scope): string | undefined | typeof UNRESOLVED {
  let text = '';
  for (const part of parts) {
    const value = typeof part === 'string' ? part : scope.valueOf(part);
    if (value === UNRESOLVED) return UNRESOLVED;
    if (value === MISSING || value === null || typeof value === 'object') return MISSING;
    text += String(value);
  }
  return text;
}
