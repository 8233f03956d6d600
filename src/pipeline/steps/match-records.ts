import { hash } from 'node:crypto';
import type { Decision } from '../../authz/decision/index.ts';
import { Problem } from '../../errors.ts';
import { filterKey, resolveWhere } from '../../request/index.ts';

import { findMatches } from '../../storage/index.ts';
import type { Decided, Found, RequestContext, Result } from '../request-context.ts';
import { validateSubmittedValues } from './check-record.ts';
import { asRead, decideAgain, decideChanged } from './decide-request.ts';
import { allowedWhere, scopesFor } from './decision-scopes.ts';
import { valuesForUpdate } from './submitted-values.ts';
import { insert, save, shown } from './write-record.ts';

/** Stores the proposed record unless the filter matches one that the caller may read; that one is the answer then. */
export async function insertUnlessMatched(context: RequestContext, decided: Decided): Promise<Result> {
  const [match] = await findReadable(context, decided.also as Decision);
  if (match !== undefined) {
    await decideAgain(asRead(context), { record: match, recordId: match.id, action: 'read' });
    return { ...shown(context, 200, match), extras: { created: false } };
  }
  await validateSubmittedValues(context, [], decided.proposals);
  return { ...(await insert(context, decided)), extras: { created: true } };
}

/** Updates the one record that the filter matches among those that the caller may read; several are refused and none is changed. */
export async function saveMatch(context: RequestContext, { also }: Decided): Promise<Result> {
  const found = await findReadable(context, also as Decision);
  const [match] = found;
  if (match === undefined) return { status: 200, data: null, extras: { updated: false } };
  if (found.length > 1)
    throw new Problem('RECORD_AMBIGUOUS', `the filter matches several ${context.resource.name} records, none was changed`);
  const stored = { record: match, recordId: match.id };
  await decideAgain(asRead(context), { ...stored, action: 'read' });
  const decision = await decideAgain(context, stored);
  const decided = { found, proposals: valuesForUpdate(context, found), decision };
  await validateSubmittedValues(context, found, decided.proposals);
  await decideChanged(context, decided);
  return { ...(await save(context, decided)), extras: { updated: true } };
}

/** Finds records that match the filter and that the caller may read: a create needs to know of one, an update whether there are several. */
async function findReadable(context: RequestContext, reading: Decision): Promise<Found> {
  const { tx, resource, snapshot, options, request } = context;
  const filter = resolveWhere(resource, request.filter ?? [], { typed: true, member: 'filter' });
  const where = allowedWhere(reading);
  const creates = request.action === 'createIfNotExists';
  // Of many at once with one filter, the first creates and the others find. The caller's conditions are no part of the name.
  if (creates) await tx.lock(`${resource.name} ${hash('sha256', filterKey(resource, filter), 'base64url')}`);
  return findMatches(tx, resource, {
    filter,
    readable: { where, scopeFor: await scopesFor(asRead(context), { resource, action: 'read', where }) },
    definitions: snapshot.definitions,
    timeZone: options.timeZone,
    limit: creates ? 1 : 2,
    scanMilliseconds: options.scanMilliseconds,
    toChange: !creates,
  });
}
