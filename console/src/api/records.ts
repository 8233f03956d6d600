/** Requests for records. Their fields are those of the definitions, so they are not typed. */
import { sendAuthorized } from './client.ts';
import { isLost, readBody, readProblem } from './problem.ts';

/** A record: its id, its version and the fields that the caller may see. */
export interface Row {
  readonly id: string;
  readonly version?: number;
  /** The records that references lead to, by field. Absent where the caller may not read them. */
  readonly expand?: Readonly<Record<string, Row | null | undefined>>;
  readonly [field: string]: unknown;
}

/** A page of records. */
export interface RecordPage {
  readonly data: readonly Row[];
  readonly count: number;
  readonly total?: number;
  readonly nextCursor?: string;
  readonly warnings?: readonly string[];
}

/** A list of records: its filter, order and page. */
export interface RecordQuery {
  readonly where?: object | undefined;
  readonly sort?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly total?: boolean | undefined;
  readonly expand?: readonly string[] | undefined;
}

/** Parts of a request to the API of records. */
export interface RecordRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  /** The version that the request changes. */
  readonly version?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request below `/api`, and returns the body of its response. @throws RequestError if it is refused */
export async function sendRecordRequest<Body>(path: string, request: RecordRequest = {}): Promise<Body> {
  const response = await send(path, request);
  return (response.status === 204 ? undefined : await readBody(response, request.signal)) as Body;
}

async function send(path: string, { method = 'GET', query = {}, body, version, signal }: RecordRequest): Promise<Response> {
  const url = new URL(`/api/${path}`, location.origin);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  const response = await sendAuthorized(
    new Request(url, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(version !== undefined && { 'if-match': `"${version}"` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    }),
  );
  if (!response.ok) throw await readProblem(response);
  return response;
}

/** Lists no record of a resource, and returns the id of the audit entry of the decision. */
export async function listForDecision(resource: string): Promise<string> {
  const { headers } = await send(encodeURIComponent(resource), { query: { limit: 0 } });
  return headers.get('x-decision-id') ?? '';
}

/** Loads a page of records. */
export function loadRecords(resource: string, query: RecordQuery, signal?: AbortSignal): Promise<RecordPage> {
  return sendRecordRequest(`${encodeURIComponent(resource)}/list`, { method: 'POST', body: query, signal });
}

/** Loads a page of soft-deleted records. */
export function loadDeletedRecords(resource: string, query: RecordQuery, signal?: AbortSignal): Promise<RecordPage> {
  return sendRecordRequest(`${encodeURIComponent(resource)}/listDeleted`, { method: 'POST', body: query, signal });
}

/** Loads a record. */
export async function loadRecord(resource: string, id: string, signal?: AbortSignal): Promise<Row> {
  const path = `${encodeURIComponent(resource)}/${encodeURIComponent(id)}`;
  return (await sendRecordRequest<{ readonly data: Row }>(path, { signal })).data;
}

/** Creates a record, and reloads the lists that show it. @throws RequestError if it is refused */
export async function createRecord(resource: string, body: object, reload: () => Promise<unknown>): Promise<Row> {
  const path = encodeURIComponent(resource);
  const { data } = await sendRecordRequest<{ readonly data: Row }>(path, { method: 'POST', body }).catch((error: unknown) => {
    // The record may have been created. The error does not wait for the lists.
    if (isLost(error)) void reload();
    throw error;
  });
  await reload();
  return data;
}
