/** The records whose ids the traces of conditions contain. */
import { type PathOption, targetOf } from '../condition/condition-paths.ts';
import { idsIn, type RecordReference } from '../record-names.ts';
import { type ConditionTrace, membersOf } from './condition-words.ts';

/** Returns the records that traces compare. `options` are the paths of the resource of the decision. */
export function referencesInTraces(traces: readonly ConditionTrace[], options: readonly PathOption[]): readonly RecordReference[] {
  return traces.flatMap((trace) => {
    const { where, records = [] } = trace;
    const nested = [...membersOf(trace), ...(where ? [where] : []), ...records.flatMap((record) => record.where ?? [])];
    return [...referencesOf(trace, options), ...referencesInTraces(nested, options)];
  });
}

function referencesOf(
  { field = '', actual, expected, ancestors }: ConditionTrace,
  options: readonly PathOption[],
): readonly RecordReference[] {
  const resource = ancestors?.resource ?? targetOf(field, options);
  return resource === undefined ? [] : idsIn([actual, expected, ancestors?.ids]).map((id) => ({ resource, id }));
}
