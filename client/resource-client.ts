import type { DeletionPreview } from './generated/service-types.ts';
import type { Page, ResourceClient, ResourceTypes } from './resource-types.ts';
import type { ClientRequest, Transport } from './transport.ts';

/** A query or options before they are sent. */
interface AnyOptions {
  readonly fields?: readonly string[] | undefined;
  readonly expand?: readonly string[] | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  readonly ifMatch?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The calls of one resource, without the types of its records. */
type Calls = ResourceClient<Record<string, ResourceTypes>, ResourceTypes>;

/** Creates the calls of a resource. */
export function createResourceClient({ load }: Transport, resource: string): Calls {
  const path = `/api/${encodeURIComponent(resource)}`;
  const pathOf = (id: string): string => `${path}/${encodeURIComponent(id)}`;
  const dataOf = async (request: ClientRequest): Promise<unknown> => ((await load(request)) as { readonly data: unknown }).data;
  const act = (action: string, body: object, { signal, ifMatch }: AnyOptions = {}): ClientRequest => ({
    method: 'POST',
    path: `${path}/${action}`,
    body,
    signal,
    ...ifMatches(ifMatch),
  });

  const list = ({ signal, ...query }: AnyOptions = {}): Promise<unknown> => load({ ...act('list', query, { signal }), isRead: true });
  const calls = {
    list,
    all: (query?: AnyOptions) => loadAll(list, query),
    read: (id: string, { fields, expand, signal }: AnyOptions = {}) =>
      dataOf({ method: 'GET', path: pathOf(id), query: { fields, expand }, signal }),
    create: (body: object, { signal }: AnyOptions = {}) => dataOf({ method: 'POST', path, body, signal }),
    update: (id: string, body: object, { ifMatch, signal }: AnyOptions = {}) =>
      dataOf({ method: 'PUT', path: pathOf(id), body, signal, ...ifMatches(ifMatch) }),
    async delete(id: string, { ifMatch, signal }: AnyOptions = {}) {
      await load({ method: 'DELETE', path: pathOf(id), signal, ...ifMatches(ifMatch) });
    },
    previewDeletion: (id: string, { ifMatch, signal }: AnyOptions = {}) =>
      dataOf({
        method: 'DELETE',
        path: pathOf(id),
        query: { dryRun: true },
        signal,
        isRead: true,
        ...ifMatches(ifMatch),
      }) as Promise<DeletionPreview>,
    async restore(id: string, options?: AnyOptions) {
      await load(act('restore', { id }, options));
    },
    createIfNotExists: (filter: object, data: object, options?: AnyOptions) => load(act('createIfNotExists', { filter, data }, options)),
    updateIfExists: (filter: object, data: object, options?: AnyOptions) => load(act('updateIfExists', { filter, data }, options)),
  };
  // The methods return what the service sends; the generated types describe it.
  return calls as unknown as Calls;
}

/** Loads the records of a list page by page. @throws RangeError if the pages would have no records */
async function* loadAll(list: (query: AnyOptions) => Promise<unknown>, query: AnyOptions = {}): AsyncGenerator<unknown, void> {
  if (query.limit === 0) throw new RangeError('limit: expected at least 1');
  let cursor: string | undefined;
  do {
    const page = (await list({ ...query, cursor: cursor ?? query.cursor })) as Page<unknown>;
    yield* page.data;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

function ifMatches(version: number | undefined): Pick<ClientRequest, 'headers'> {
  return version === undefined ? {} : { headers: { 'if-match': `"${version}"` } };
}
