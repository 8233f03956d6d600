/** The reasons why several policies cannot be activated or deactivated. */
import type { PolicySummary } from '../../api/policies.ts';
import { RequestError } from '../../api/problem.ts';
import { policiesTexts } from '../../texts/policies.ts';
import { sentence } from '../../texts/sentence.ts';

const texts = policiesTexts.bulk;

/** A policy whose change was refused. */
export interface Refusal {
  readonly name: string;
  readonly error: unknown;
}

/** Returns the reason why some of the policies cannot be activated or deactivated: only their files change them. */
export function managedRefusal(
  policies: readonly Pick<PolicySummary, 'name' | 'file' | 'isActive' | 'managedBy'>[],
  isActive: boolean,
): string | undefined {
  const managed = policies.filter((policy) => policy.managedBy !== undefined && policy.isActive !== isActive);
  return managed.length === 0 ? undefined : texts.managed(managed.map(({ name, file = '' }) => sentence`${name} (${file})`));
}

/** Returns the error about the refused changes, with the number of those that were made. Its code and request are those of the first refusal. */
export function toError(done: number, refusals: readonly Refusal[]): Error {
  const [{ name, error } = { name: '', error: undefined }] = refusals;
  const detail = texts.failed(done, refusals.length, sentence`${name}: ${error instanceof Error ? error.message : String(error)}`);
  return error instanceof RequestError ? new RequestError({ ...error.problem, detail }, error.retryAfter) : new Error(detail);
}
