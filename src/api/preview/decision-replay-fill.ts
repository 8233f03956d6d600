import type { AuditEntry, ReplayFrame, ReplayKnowledge } from '../../audit/index.ts';
import { createScope, type Principal } from '../../authz/context/index.ts';
import { type Path, UNRESOLVED } from '../../conditions/index.ts';
import { loadRecord, loadReferenced } from '../../storage/index.ts';
import { toPrincipal } from '../access/index.ts';
import type { PastRequest } from '../decisions/index.ts';

/** An entry whose missing values are filled, and the paths with more than one key that the replayed rules read. */
export interface FillInput {
  readonly entry: AuditEntry;
  readonly frame: ReplayFrame;
  readonly referencePaths: readonly Path[];
}

/**
 * Loads the caller and the record of an entry as they are stored today, and returns a function that takes values that were not kept from them.
 * A user or record that is not stored any more fills nothing.
 */
export async function loadFill(
  { tx, snapshot, deps }: PastRequest,
  { entry, frame, referencePaths }: FillInput,
): Promise<NonNullable<ReplayKnowledge['fill']>> {
  const { userId, role, recordId } = entry;
  const { definitions, resource } = frame;
  const user = userId === undefined ? undefined : await loadRecord(tx, snapshot.user, userId);
  const record = recordId === undefined ? undefined : await loadRecord(tx, resource, recordId);
  const principal: Principal = user === undefined ? { id: userId, role, attributes: {} } : toPrincipal(user);
  const scope = createScope({
    principal,
    action: 'read',
    resource,
    record,
    recordId,
    origin: { method: '', path: '', ip: '' },
    now: tx.now,
    timeZone: deps.timeZone,
    definitions,
    referenced: await loadReferenced(tx, definitions, { paths: referencePaths, principal, resource, record }),
  });
  const isStored = { user: user !== undefined, resource: record !== undefined, environment: false, request: false, related: false };
  return (path) => (isStored[path.group] ? scope.valueOf(path) : UNRESOLVED);
}
