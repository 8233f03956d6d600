import { revokeSessions, validateAdminRemains } from '../../authn/index.ts';
import { type Issue, Problem } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import { describeResource, type StoredRecord, showRecord } from '../../resources/index.ts';
import { ConstraintError, insertRecord, updateRecord } from '../../storage/index.ts';
import type { Decided, Proposal, RequestContext, Result } from '../request-context.ts';
import { deleteWithReferrers } from './cascade-delete.ts';
import { mayRead } from './decide-request.ts';
import { checkOwnPassword } from './own-password.ts';
import { readShowing, showEach } from './project-record.ts';

/** The record found. */
export async function show(context: RequestContext, { found }: Decided): Promise<Result> {
  const record = found[0] as StoredRecord;
  const [data] = await showEach(context, [record], readShowing(context, 1));
  return { status: 200, data, version: record.version };
}

/** The resource's fields, for whoever may read or list it. */
export async function describe(context: RequestContext): Promise<Result> {
  return { status: 200, data: describeResource(context.resource) };
}

/** Stores the proposed record. */
export async function insert(context: RequestContext, { proposals }: Decided): Promise<Result> {
  const record = await store(context, proposals[0] as Proposal);
  return { ...shown(context, 201, record), location: `/api/${context.resource.name}/${record.id}` };
}

/** Stores every record of an import, all or none. */
export async function insertEach(context: RequestContext, { proposals }: Decided): Promise<Result> {
  const ids: string[] = [];
  for (const proposal of proposals) ids.push((await store(context, proposal)).id);
  return { status: 201, data: ids, extras: { count: ids.length, message: `imported ${ids.length} ${context.resource.name} records` } };
}

/** Stores what the update changes and answers the record after it; its id and version alone if the caller may not read it. */
export async function save(context: RequestContext, decided: Decided): Promise<Result> {
  const record = await storeChange(context, decided);
  if (await mayRead(context, record)) return shown(context, 200, record);
  const { id, version } = record;
  return { status: 200, data: { id, version }, version };
}

/** Stores what the update changes and returns the record after it. */
export async function storeChange(
  context: RequestContext,
  { found, proposals }: Pick<Decided, 'found' | 'proposals'>,
): Promise<StoredRecord> {
  const before = found[0] as StoredRecord;
  const proposal = proposals[0] as Proposal;
  const { record, values, cleared } = proposal;
  await guardUser(context, proposal);
  const change = { id: before.id, version: before.version, values: hashPasswords(context, values), cleared, now: context.tx.now };
  if (!(await translated(context, () => updateRecord(context.tx, context.resource, change))))
    throw new Problem('RECORD_VERSION', 'the record has changed meanwhile');
  return record;
}

/** Deletes the record found, and what refers to it as its definitions say. */
export async function remove(context: RequestContext, { found }: Decided): Promise<Result> {
  const record = found[0] as StoredRecord;
  await translated(context, () => deleteWithReferrers(context, { resource: context.resource, id: record.id }));
  return { status: 200, data: { id: record.id }, extras: { message: `deleted ${context.resource.name} ${record.id}` } };
}

async function store(context: RequestContext, { record, values }: Proposal): Promise<StoredRecord> {
  await translated(context, () => insertRecord(context.tx, context.resource, { ...record, ...hashPasswords(context, values) }));
  return record;
}

/** Own passwords need the current one; demotion, deactivation and a new password take effect at once; the last active admin stays. */
async function guardUser(context: RequestContext, proposal: Proposal): Promise<void> {
  const { record, values, cleared } = proposal;
  if (context.resource.name !== 'User') return;
  await checkOwnPassword(context, proposal);
  await validateAdminRemains(context.tx, { userId: record.id, role: String(record['role']), isActive: record['isActive'] === true });
  const hasNewPassword = Object.hasOwn(values, 'password') || cleared.includes('password');
  if (hasNewPassword || record['isActive'] !== true) await revokeSessions(context.tx, record.id);
}

function hashPasswords(context: RequestContext, values: Readonly<Record<string, Json>>): Record<string, Json> {
  const entries = Object.entries(values).map(([name, value]): [string, Json] => {
    const isPassword = context.resource.fields.get(name)?.type === 'password' && typeof value === 'string';
    return [name, isPassword ? context.hashes.of(value) : value];
  });
  return Object.fromEntries(entries);
}

/** Says constraint errors of the database in words; values of secret fields are never among them. */
export async function translated<T>(context: Pick<RequestContext, 'resource'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    if (error.constraint === 'unique') {
      const taken = error.columns.filter((name) => context.resource.fields.get(name)?.writeOnly === false);
      const errors: Issue[] = taken.map((path) => ({ path, code: 'taken', detail: `another ${context.resource.name} has this ${path}` }));
      throw new Problem('RECORD_EXISTS', `another ${context.resource.name} has the same ${taken.join(' and ') || 'values'}`, {
        errors,
        cause: error,
      });
    }
    // Whoever else refers, or is referred to, was asked before: what is left has no definition in force.
    throw new Problem('RECORD_REFERENCED', 'what is kept aside of a removed definition refers to it; bring that definition back first', {
      cause: error,
    });
  }
}

/** A record as the answer, with its version. */
export function shown(context: RequestContext, status: number, record: StoredRecord): Result {
  return { status, data: showRecord(context.resource, record), version: record.version };
}
