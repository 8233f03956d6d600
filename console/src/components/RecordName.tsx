import { useQuery } from '@tanstack/react-query';
import { effectOf, useOwnResource } from '../api/own-resources.ts';
import { loadRecords } from '../api/records.ts';
import { labelField, labelOf } from './record-labels.ts';
import { TextLink } from './TextLink.tsx';

/** A record by its resource and id. */
interface RecordReference {
  readonly resource: string;
  readonly id: string;
}

/** The name of a record; its id if the caller may not list it. */
export function RecordName({ resource, id }: RecordReference) {
  const { data: own } = useOwnResource(resource);
  const found = useQuery({
    queryKey: ['records', resource, 'name', id],
    // A list leaves out a record that may not be read. A read would be denied, and the audit log would record a denial that no user caused.
    queryFn: async ({ signal }) => (await loadRecords(resource, { where: { id }, limit: 1 }, signal)).data[0] ?? null,
    enabled: own !== undefined && own !== null && effectOf(own, 'list') !== 'deny',
    staleTime: 60_000,
  });
  return <>{found.data && own ? labelOf(found.data, labelField(own.definition)) : id}</>;
}

/** A link to a record, with its name; only the id if the caller may not use the resource. */
export function RecordLink({ resource, id }: RecordReference) {
  const { data: own } = useOwnResource(resource);
  if (own === undefined || own === null) return <>{id}</>;
  return (
    <TextLink to="/data/$resource/$id" params={{ resource, id }} size="sm">
      <RecordName resource={resource} id={id} />
    </TextLink>
  );
}
