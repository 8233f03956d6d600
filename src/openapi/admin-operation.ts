import type { JsonObject } from '../operators/index.ts';
import { type OperationParts, toOperation } from './operation.ts';

type AdminOperation = Omit<OperationParts, 'id' | 'tag' | 'caller'>;

/** An operation that only an admin's token opens: 401 without a token, 403 with another's. */
export function adminOperation(
  area: 'policies' | 'assignments' | 'access tests' | 'decisions' | 'storage',
  id: string,
  parts: AdminOperation,
): JsonObject {
  const problems = [403, ...(parts.problems ?? [])];
  return toOperation({ ...parts, problems, caller: 'bearer', id: `admin.${id}`, tag: `Admin ${area}` });
}
