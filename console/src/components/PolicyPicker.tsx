import { bodyOf, client } from '../api/client.ts';
import { hasCode } from '../api/problem.ts';
import { AsyncPicker } from './AsyncPicker.tsx';
import type { PickerItem, PickerSource } from './picker-source.ts';

/** Properties of a picker of policies. */
interface PolicyPickerProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly required?: boolean;
  onChange(id: string | undefined): void;
}

/** Picks a policy by name. */
export function PolicyPicker(props: PolicyPickerProps) {
  return <AsyncPicker {...props} source={POLICIES} />;
}

async function searchPolicies(search: string, signal: AbortSignal): Promise<readonly PickerItem[]> {
  const query = { limit: 20, summary: true, ...(search !== '' && { search }) };
  const { data } = await bodyOf(client.GET('/admin/api/policies', { params: { query }, signal }));
  return data.map(({ id, name }) => ({ value: id, label: name }));
}

async function findPolicy(id: string, signal: AbortSignal): Promise<PickerItem | undefined> {
  try {
    const { data } = await bodyOf(client.GET('/admin/api/policies/{id}', { params: { path: { id } }, signal }));
    return { value: id, label: data.name };
  } catch (error) {
    // Any text can be typed into the picker.
    if (hasCode(error, 'POLICY_UNKNOWN')) return undefined;
    throw error;
  }
}

const POLICIES: PickerSource = { key: ['policies', 'picker'], search: searchPolicies, find: findPolicy };
