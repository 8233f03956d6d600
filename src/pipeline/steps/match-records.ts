import { hash } from 'node:crypto';
import type { Decision } from '../../authz/decision/index.ts';
import { Problem } from '../../errors.ts';
import { filterKey, resolveWhere } from '../../request/index.ts';

import { findMatches } from '../../storage/index.ts';
import type { Decided, Found, Job, Result } from '../step-context.ts';
import { checkValuesOnly } from './check-record.ts';
import { asRead, decideAgain, redecide } from './decide-request.ts';
import { allowedWhere, scopesFor } from './decision-scopes.ts';
import { readForUpdate } from './submitted-values.ts';
import { insert, save, shown } from './write-record.ts';

/** Stores the proposed record unless the filter matches one that the caller may read; that one is the answer then. */
export async function insertUnlessMatched(job: Job, decided: Decided): Promise<Result> {
  const [match] = await findReadable(job, decided.also as Decision);
  if (match !== undefined) {
    await decideAgain(asRead(job), { record: match, recordId: match.id, action: 'read' });
    return { ...shown(job, 200, match), extras: { created: false } };
  }
  await checkValuesOnly(job, [], decided.proposals);
  return { ...(await insert(job, decided)), extras: { created: true } };
}

/** Updates the one record that the filter matches among those that the caller may read; several are refused and none is changed. */
export async function saveMatch(job: Job, { also }: Decided): Promise<Result> {
  const found = await findReadable(job, also as Decision);
  const [match] = found;
  if (match === undefined) return { status: 200, data: null, extras: { updated: false } };
  if (found.length > 1) throw new Problem('RECORD_AMBIGUOUS', `the filter matches several ${job.resource.name} records, none was changed`);
  const stored = { record: match, recordId: match.id };
  await decideAgain(asRead(job), { ...stored, action: 'read' });
  const decision = await decideAgain(job, stored);
  const decided = { found, proposals: readForUpdate(job, found), decision };
  await checkValuesOnly(job, found, decided.proposals);
  await redecide(job, decided);
  return { ...(await save(job, decided)), extras: { updated: true } };
}

/** Finds records that match the filter and that the caller may read: a create needs to know of one, an update whether there are several. */
async function findReadable(job: Job, reading: Decision): Promise<Found> {
  const { tx, resource, model, settings, request } = job;
  const filter = resolveWhere(resource, request.filter ?? [], { typed: true, member: 'filter' });
  const where = allowedWhere(reading);
  const creates = request.action === 'createIfNotExists';
  // Of many at once with one filter, the first creates and the others find. The caller's conditions are no part of the name.
  if (creates) await tx.lock(`${resource.name} ${hash('sha256', filterKey(resource, filter), 'base64url')}`);
  return findMatches(tx, resource, {
    filter,
    readable: { where, scopeFor: await scopesFor(asRead(job), { resource, action: 'read', where }) },
    definitions: model.definitions,
    timeZone: settings.timeZone,
    limit: creates ? 1 : 2,
    scanMilliseconds: settings.scanMilliseconds,
    toChange: !creates,
  });
}
