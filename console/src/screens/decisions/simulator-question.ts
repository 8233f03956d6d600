/** The question of the simulator that an audit entry answers. */
import type { Schemas } from '../../api/client.ts';

type Entry = Pick<
  Schemas['admin.Decision'],
  'action' | 'allowed' | 'at' | 'facts' | 'ip' | 'kind' | 'recordId' | 'resource' | 'role' | 'userId'
>;

/** A question of the simulator, as search parameters of its address. */
export interface SimulatorQuestion {
  readonly resource: string;
  readonly action: string;
  readonly id?: string;
  readonly user?: string;
  readonly role: string;
  readonly time: string;
  readonly ip: string;
  /** JSON objects: attributes of the user, fields of the record and values of the request. */
  readonly attributes?: string;
  readonly fields?: string;
  readonly data?: string;
  /** The names of the fields that the request gave values for, which the entry does not have; separated by commas. */
  readonly unrecorded?: string;
  /** Leaves out a draft that an editor has left in the tab: the entry was decided by policies in force. */
  readonly draft: 'none';
}

/**
 * Returns the question of the simulator about the request of an entry; undefined if the entry is no request to records. The role, the time, the
 * address and the values that conditions read are those of the request, so that rules about them apply as they did.
 */
export function toQuestion(entry: Entry): SimulatorQuestion | undefined {
  const { kind, resource, action, recordId, userId, role, at, ip, facts = {} } = entry;
  if (kind !== 'access') return undefined;
  const { id: _, role: __, ...attributes } = valuesIn('user', facts);
  const { fields, data, unrecorded } = valuesOfRequest(entry);
  return {
    resource,
    action,
    ...(recordId !== undefined && { id: recordId }),
    ...(userId !== undefined && { user: userId }),
    role,
    time: textOf(facts['environment.timestamp']) ?? at,
    ip: textOf(facts['environment.ip']) ?? ip,
    ...(userId !== undefined && asJson('attributes', attributes)),
    ...asJson('fields', fields),
    ...asJson('data', data),
    ...(unrecorded.length > 0 && { unrecorded: unrecorded.join(',') }),
    draft: 'none',
  };
}

type Values = Readonly<Record<string, unknown>>;

/** The recorded values of the record and of the request. */
interface RecordedRequest {
  readonly fields: Values;
  readonly data: Values;
  readonly unrecorded: readonly string[];
}

/** Fields that the service sets. The simulator sets those of a new record itself. */
const SET_BY_SERVICE: readonly string[] = ['version', 'createdAt', 'updatedAt', 'createdBy'];

/** Fields that the service changes with every update. */
const CHANGED_ALWAYS: readonly string[] = ['version', 'updatedAt'];

function valuesOfRequest({ action, allowed, facts = {}, recordId, resource }: Entry): RecordedRequest {
  const { id: _, name, ...others } = valuesIn('resource', facts);
  // A resource without a field of this name has its own name there.
  const record = name === undefined || name === resource ? others : { ...others, name };
  const sent = { ...objectOf(facts['request.data']), ...valuesIn('request.data', facts) };
  if (recordId === undefined) return { fields: {}, data: { ...without(record, SET_BY_SERVICE), ...sent }, unrecorded: [] };
  if (action !== 'update') return { fields: record, data: sent, unrecorded: [] };
  const given = Array.isArray(facts['fields']) ? facts['fields'].map(String) : [];
  const isOfChanged = allowed || facts['changedRecord'] === true;
  // The entry has the values of the record as the update would store it, or else of the stored record.
  const proposed = isOfChanged ? Object.entries(record).filter(([field]) => given.includes(field)) : [];
  const data: Values = { ...Object.fromEntries(proposed), ...sent };
  const fields = isOfChanged ? without(record, [...given, ...CHANGED_ALWAYS]) : record;
  return { fields, data, unrecorded: given.filter((field) => !Object.hasOwn(data, field)) };
}

/** Longest value as JSON that an address contains. */
const MAX_LENGTH = 500;

/** Returns the recorded values of the members of a group, such as `status` for `resource.status`. Values inside members are left out. */
function valuesIn(group: string, facts: Values): Values {
  const prefix = `${group}.`;
  const members = Object.entries(facts).flatMap(([path, value]) => {
    const name = path.slice(prefix.length);
    return path.startsWith(prefix) && !name.includes('.') && isKept(value) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(members);
}

/** Returns false for the mark of a value that was too long to be recorded, and for a value that is too long for an address. */
function isKept(value: unknown): boolean {
  return objectOf(value)['notKept'] !== true && JSON.stringify(value).length <= MAX_LENGTH;
}

function objectOf(value: unknown): Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function without(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}

function asJson(name: 'attributes' | 'fields' | 'data', values: Values): { readonly [Name in typeof name]?: string } {
  return Object.keys(values).length === 0 ? {} : { [name]: JSON.stringify(values) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
