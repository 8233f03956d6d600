/** The question of the simulator, as the search parameters of its address. */
import type { Schemas } from '../../api/client.ts';
import { OF_RECORDS } from '../../api/record-actions.ts';
import { parseJsonObject } from '../../components/json-objects.ts';

const TEXTS = ['user', 'role', 'resource', 'id', 'action', 'time', 'ip', 'unrecorded'] as const;
const OBJECTS = ['attributes', 'fields', 'data'] as const;

/** The question of the simulator. */
export type SimulatorSearch = {
  /** Texts. `unrecorded` are the names of fields whose values the audit log does not have, separated by commas. */
  readonly [Name in (typeof TEXTS)[number]]?: string;
} & {
  /** Leaves out the draft of the tab and of the address. */
  readonly draft?: 'none';
} & {
  /** JSON objects as text: attributes of the user, fields of the record, values of the request. */
  readonly [Name in (typeof OBJECTS)[number]]?: string;
};

/** Reads the question from an address. */
export function validateSimulatorSearch(given: Record<string, unknown>): SimulatorSearch {
  const texts = TEXTS.flatMap((name) => {
    const value = given[name];
    return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [];
  });
  const objects = OBJECTS.flatMap((name) => {
    const value = given[name];
    if (value === undefined || value === '') return [];
    return [[name, typeof value === 'string' ? value : JSON.stringify(value)]];
  });
  return { ...Object.fromEntries([...texts, ...objects]), ...(given['draft'] === 'none' && { draft: 'none' as const }) };
}

/** Returns the body of an access test; undefined if the question is not complete. */
export function toAccessTest(search: SimulatorSearch): Schemas['admin.AccessTest'] | undefined {
  const { user, role, resource, id, action, time, ip } = search;
  const [attributes, fields, data] = OBJECTS.map((name) => parseJsonObject(search[name]));
  if (resource === undefined || action === undefined) return undefined;
  if (attributes === undefined || fields === undefined || data === undefined) return undefined;
  // A request for any record is decided as far as that is possible. Lists and exports are always about any record, and creates about none.
  const isAnyRecord = OF_RECORDS.has(action) && id === undefined && Object.keys(fields).length === 0;
  // In the member `resource`, `name` is the name of the resource.
  const { name, ...others } = fields;
  const hasUser = user !== undefined || role !== undefined || Object.keys(attributes).length > 0;
  return {
    // The service names the actions that exist, if the address has another one.
    action: action as Schemas['admin.AccessTest']['action'],
    resource: { ...others, name: resource, ...(id !== undefined && { id }) },
    ...(name !== undefined && { record: { name } }),
    ...(isAnyRecord && { anyRecord: true }),
    ...(hasUser && { user: { ...attributes, ...(user !== undefined && { id: user }), ...(role !== undefined && { role }) } }),
    ...(Object.keys(data).length > 0 && { data }),
    ...((time !== undefined || ip !== undefined) && {
      environment: { ...(time !== undefined && { timestamp: time }), ...(ip !== undefined && { ip }) },
    }),
  };
}

/** Returns the names of the fields whose values were not recorded, and which the question does not have either. */
export function missingValues({ unrecorded = '', data }: SimulatorSearch): readonly string[] {
  const values = parseJsonObject(data) ?? {};
  return unrecorded.split(',').filter((name) => name !== '' && !Object.hasOwn(values, name));
}

/** Returns true if the answer to one question is not the answer to another. */
export function isOutdated(asked: SimulatorSearch, question: SimulatorSearch): boolean {
  return JSON.stringify(toAccessTest(asked)) !== JSON.stringify(toAccessTest(question));
}

/** Returns the question with the draft, or without it. */
export function withDraft({ draft: _, ...question }: SimulatorSearch, isUsed: boolean): SimulatorSearch {
  return isUsed ? question : { ...question, draft: 'none' };
}

/** Returns a command that asks the same question. */
export function toCurl(origin: string, body: unknown): string {
  const quoted = JSON.stringify(body).replaceAll("'", `'\\''`);
  return `curl -X POST ${origin}/admin/api/policies/test-access -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' -d '${quoted}'`;
}
