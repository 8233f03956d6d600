import { bodyOf, client, type Schemas } from '../api/client.ts';
import { hasCode } from '../api/problem.ts';
import { loadRecord } from '../api/records.ts';
import { sentence } from '../texts/sentence.ts';
import { AsyncPicker } from './AsyncPicker.tsx';
import type { PickerItem, PickerSource } from './picker-source.ts';

/** Properties of a picker of users. */
export interface UserPickerProps {
  readonly label: string;
  readonly description?: string;
  readonly placeholder?: string;
  readonly value: string | undefined;
  readonly required?: boolean;
  onChange(id: string | undefined): void;
}

/** Picks a user by name or email. */
export function UserPicker(props: UserPickerProps) {
  return <AsyncPicker {...props} source={USERS} />;
}

async function searchUsers(search: string, signal: AbortSignal): Promise<readonly PickerItem[]> {
  const query = { limit: 20, ...(search !== '' && { search }) };
  const { data } = await bodyOf(client.GET('/admin/api/users', { params: { query }, signal }));
  return data.map(toItem);
}

async function findUser(id: string, signal: AbortSignal): Promise<PickerItem | undefined> {
  try {
    return toItem((await loadRecord('User', id, signal)) as unknown as Schemas['admin.ListedUser']);
  } catch (error) {
    // The caller may be denied the record: its id is shown instead.
    if (hasCode(error, 'ACCESS_DENIED') || hasCode(error, 'RECORD_UNKNOWN')) return undefined;
    throw error;
  }
}

function toItem({ id, name, email, role }: Pick<Schemas['admin.ListedUser'], 'id' | 'name' | 'email' | 'role'>): PickerItem {
  return { value: id, label: sentence`${name ?? email} · ${role}` };
}

const USERS: PickerSource = { key: ['users', 'picker'], search: searchUsers, find: findUser };
