import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { bodyOf, client } from '../api/client.ts';
import { shellTexts } from '../texts/shell.ts';
import type { PaletteGroup } from './palette-actions.ts';

const { screens, palette } = shellTexts;

/** Maximum number of policies and of users. */
const LIMIT = 5;

/** The policies and users whose name contains a text, and links to their lists if there are more. */
export function paletteSearchQuery(search: string) {
  return queryOptions({
    queryKey: ['palette', search],
    queryFn: async ({ signal }): Promise<readonly PaletteGroup[]> => {
      const query = { search, limit: LIMIT };
      const [policies, users] = await Promise.all([
        bodyOf(client.GET('/admin/api/policies', { params: { query: { ...query, summary: true } }, signal })),
        bodyOf(client.GET('/admin/api/users', { params: { query }, signal })),
      ]);
      return [
        {
          group: screens.policies,
          links: [
            ...policies.data.map(({ id, name }) => ({ to: `/policies/${id}`, label: name })),
            ...(policies.nextCursor === undefined ? [] : [{ to: '/policies', search, label: palette.morePolicies(search) }]),
          ],
        },
        {
          group: screens.users,
          links: [
            ...users.data.map(({ id, name, email }) => ({ to: `/users/${id}`, label: name ?? email, description: email })),
            ...(users.nextCursor === undefined ? [] : [{ to: '/users', search, label: palette.moreUsers(search) }]),
          ],
        },
      ];
    },
    placeholderData: keepPreviousData,
  });
}
