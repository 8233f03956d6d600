import { type ActionName, effectOf, useOwnResource } from '../../api/own-resources.ts';
import { dataTexts } from '../../texts/data.ts';

/** Returns the reason why the caller may not perform an action on users; undefined if a rule may allow it. */
export function useUserRefusal(action: ActionName): string | undefined {
  const { data: resource } = useOwnResource('User');
  const isDenied = resource !== undefined && (resource === null || effectOf(resource, action) === 'deny');
  return isDenied ? dataTexts.refused(action) : undefined;
}
