import { type Json, MISSING } from '../operators/index.ts';
import type { Operand, Path } from './condition.ts';
import { OPEN, type Scope } from './scope.ts';

/** Compares with nothing: what stands in an array for a reference that refers to nothing, so that comparing with it is unknown. */
const COMPARES_WITH_NOTHING: Json = Object.freeze({});

/** The value of an operand in `scope`: MISSING where it refers to nothing, OPEN where it depends on a record not known yet. */
export function resolveOperand(operand: Operand, scope: Scope): Json | undefined | typeof OPEN {
  switch (operand.type) {
    case 'literal':
      return operand.value;
    case 'reference':
      return scope.valueOf(operand.path);
    case 'template':
      return resolveTemplate(operand.parts, scope);
    case 'array':
      return resolveItems(operand.items, scope);
  }
}

function resolveItems(operands: readonly Operand[], scope: Scope): readonly Json[] | typeof OPEN {
  const items: Json[] = [];
  for (const operand of operands) {
    const item = resolveOperand(operand, scope);
    if (item === OPEN) return OPEN;
    items.push(item ?? (item === null ? null : COMPARES_WITH_NOTHING));
  }
  return items;
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
