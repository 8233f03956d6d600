/** The records whose ids the traces of conditions contain. */
import type { Schemas } from '../../api/client.ts';
import { idsIn } from '../names-by-id.ts';
import type { RecordReference } from '../record-names.ts';
import { referencedResource } from '../referenced-resource.ts';
import { type ConditionTrace, membersOf } from './condition-words.ts';

type Definitions = Schemas['admin.Catalogue']['definitions'];

/** The trace of a condition of a decision on a resource. */
export interface DecidedTrace {
  readonly resource: string;
  readonly trace: ConditionTrace;
}

/** Returns the records whose ids the conditions of traces contain. */
export function referencesInTraces(decided: readonly DecidedTrace[], definitions: Definitions): readonly RecordReference[] {
  return decided.flatMap(({ trace, resource }) => {
    const { where, records = [] } = trace;
    const nested = [...membersOf(trace), ...(where ? [where] : []), ...records.flatMap((record) => record.where ?? [])];
    const inside = nested.map((each) => ({ trace: each, resource }));
    return [...referencesOf({ trace, resource }, definitions), ...referencesInTraces(inside, definitions)];
  });
}

function referencesOf({ trace, resource }: DecidedTrace, definitions: Definitions): readonly RecordReference[] {
  const { field = '', actual, expected, ancestors } = trace;
  const target = ancestors?.resource ?? resourceAt(field, resource, definitions);
  return target === undefined ? [] : idsIn([actual, expected, ancestors?.ids]).map((id) => ({ resource: target, id }));
}

/** Returns the resource whose records the values of a path identify, such as `Folder` for `resource.folderId`. It needs less code than all paths. */
function resourceAt(path: string, resource: string, definitions: Definitions): string | undefined {
  const [root, ...names] = path.split('.');
  const start = root === 'user' ? 'User' : root === 'resource' ? resource : undefined;
  if (names.length === 0) return undefined;
  return names.reduce<string | undefined>((at, name) => {
    if (name === 'id') return at;
    const field = definitions.find((definition) => definition.name === at)?.fields.find((each) => each.name === name);
    return field && referencedResource(field);
  }, start);
}
