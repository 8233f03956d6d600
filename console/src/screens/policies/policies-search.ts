import type { PolicyFilter } from '../../api/policies.ts';

const SORTS = ['name', '-name', 'updatedAt', '-updatedAt', 'priority', '-priority'] as const;
const TYPES = ['ROLE_BASED', 'ATTRIBUTE_BASED', 'CUSTOM'] as const;

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
