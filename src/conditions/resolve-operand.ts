import { type Json, MISSING } from '../operators/index.ts';
import { type ExpressionReading, OPEN, type Operand, type Path, type Scope } from './condition.ts';

/** The value of an operand in a scope: MISSING where it refers to nothing, OPEN where it depends on a record not known yet. */
export type Resolve = (scope: Scope) => Json | undefined | typeof OPEN;

/** Compares with nothing: what stands in an array for a reference that refers to nothing, so that comparing with it is unknown. */
export const COMPARES_WITH_NOTHING: Json = Object.freeze({});

/** The value of an operand in `scope`. */
export function resolveOperand(operand: Operand, scope: Scope): ReturnType<Resolve> {
  return toResolve(operand)(scope);
}

/** Returns the values of the paths that an expression reads; OPEN if one of them is open. */
export function valuesOf(paths: readonly Path[], scope: Scope): ExpressionReading | typeof OPEN {
  const values = new Map<string, Json | undefined>();
  for (const path of paths) {
    const value = scope.valueOf(path);
    if (value === OPEN) return OPEN;
    values.set(path.text, value);
  }
  return { valueAt: ({ text }) => values.get(text), kindOf: (path) => scope.kindOf(path) };
}

/** How to find an operand's value, with everything that needs no scope done once: literals, and arrays of nothing else, are there already. */
export function toResolve(operand: Operand): Resolve {
  switch (operand.type) {
    case 'literal':
      return () => operand.value;
    case 'reference':
      return (scope) => scope.valueOf(operand.path);
    case 'template':
      return (scope) => resolveTemplate(operand.parts, scope);
    case 'array':
      return toResolveItems(operand.items);
    case 'computed':
      return (scope) => {
        const values = valuesOf(operand.paths, scope);
        return values === OPEN ? OPEN : operand.evaluate(values);
      };
  }
}

function toResolveItems(operands: readonly Operand[]): Resolve {
  const literals = Object.freeze(operands.filter((operand) => operand.type === 'literal').map(({ value }) => value));
  if (literals.length === operands.length) return () => literals;
  const each = operands.map(toResolve);
  return (scope) => {
    const items: Json[] = [];
    for (const resolve of each) {
      const item = resolve(scope);
      if (item === OPEN) return OPEN;
      items.push(item ?? (item === null ? null : COMPARES_WITH_NOTHING));
    }
    return items;
  };
}

function resolveTemplate(parts: readonly (string | Path)[], scope: Scope): string | undefined | typeof OPEN {
  let text = '';
  for (const part of parts) {
    const value = typeof part === 'string' ? part : scope.valueOf(part);
    if (value === OPEN) return OPEN;
    if (value === MISSING || value === null || typeof value === 'object') return MISSING;
    text += String(value);
  }
  return text;
}
