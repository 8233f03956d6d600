import type { Condition, Operand, Path } from './condition.ts';

/** Every path that a condition reads, each once, in the order of their first reading. */
export function conditionPaths(condition: Condition): readonly Path[] {
  const found = new Map<string, Path>();
  for (const path of pathsOf(condition)) if (!found.has(path.text)) found.set(path.text, path);
  return [...found.values()];
}

function pathsOf(condition: Condition): readonly Path[] {
  switch (condition.type) {
    case 'constant':
      return [];
    case 'comparison':
      return [condition.path, ...operandPaths(condition.operand)];
    case 'expression':
      return condition.paths;
    case 'not':
      return pathsOf(condition.of);
    default:
      return condition.of.flatMap(pathsOf);
  }
}

/** Every path that an operand refers to. */
export function operandPaths(operand: Operand): readonly Path[] {
  switch (operand.type) {
    case 'literal':
      return [];
    case 'reference':
      return [operand.path];
    case 'template':
      return operand.parts.filter((part) => typeof part !== 'string');
    case 'array':
      return operand.items.flatMap(operandPaths);
    case 'computed':
      return operand.paths;
  }
}
