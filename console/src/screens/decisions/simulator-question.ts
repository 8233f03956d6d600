/** The question of the simulator that an audit entry answers. */
import type { Schemas } from '../../api/client.ts';

type Entry = Pick<Schemas['admin.Decision'], 'action' | 'kind' | 'recordId' | 'resource' | 'role' | 'userId'>;

/** A question of the simulator, as search parameters of its address. */
export interface SimulatorQuestion {
  readonly resource: string;
  readonly action: string;
  readonly id?: string;
  readonly user?: string;
  readonly role?: string;
}

/** Returns the question of the simulator about the request of an entry; undefined if the entry is no request to records. */
export function toQuestion({ kind, resource, action, recordId, userId, role }: Entry): SimulatorQuestion | undefined {
  if (kind !== 'access') return undefined;
  return {
    resource,
    action,
    ...(recordId !== undefined && { id: recordId }),
    ...(userId === undefined ? { role } : { user: userId }),
  };
}
