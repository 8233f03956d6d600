import type { PolicyFilter } from '../../api/policies.ts';

const SORTS = ['name', '-name', 'updatedAt', '-updatedAt', 'priority', '-priority'] as const;
type PolicyType = NonNullable<PolicyFilter['type']>;
// An object, so that TypeScript reports a missing type. The texts of the types are not part of the page that is loaded first.
const TYPES = Object.keys({ ROLE_BASED: true, ATTRIBUTE_BASED: true, CUSTOM: true } satisfies Record<PolicyType, true>) as PolicyType[];

/** Reads the filters of the list from the search parameters of the URL. Invalid ones are dropped. */
export function validatePoliciesSearch(search: Readonly<Record<string, unknown>>): PolicyFilter {
  const text = (name: 'search' | 'resource' | 'tag' | 'assignedTo') => {
    const value = search[name];
    return typeof value === 'string' && value !== '' ? { [name]: value } : {};
  };
  const sort = SORTS.find((each) => each === search['sort']);
  const type = TYPES.find((each) => each === search['type']);
  const { isActive } = search;
  return {
    ...text('search'),
    ...text('resource'),
    ...text('tag'),
    ...text('assignedTo'),
    ...(type !== undefined && { type }),
    ...(sort !== undefined && { sort }),
    ...(typeof isActive === 'boolean' && { isActive }),
  };
}
