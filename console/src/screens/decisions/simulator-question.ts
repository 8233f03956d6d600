/** The question of the simulator that an audit entry answers. */
import type { Schemas } from '../../api/client.ts';

type Entry = Pick<Schemas['admin.Decision'], 'action' | 'at' | 'facts' | 'ip' | 'kind' | 'recordId' | 'resource' | 'role' | 'userId'>;

/** A question of the simulator, as search parameters of its address. */
export interface SimulatorQuestion {
  readonly resource: string;
  readonly action: string;
  readonly id?: string;
  readonly user?: string;
  readonly role: string;
  readonly time: string;
  readonly ip: string;
}

/**
 * Returns the question of the simulator about the request of an entry; undefined if the entry is no request to records. The role, the time and
 * the address are those of the request, so that rules about them apply as they did.
 */
export function toQuestion({ kind, resource, action, recordId, userId, role, at, ip, facts }: Entry): SimulatorQuestion | undefined {
  if (kind !== 'access') return undefined;
  return {
    resource,
    action,
    ...(recordId !== undefined && { id: recordId }),
    ...(userId !== undefined && { user: userId }),
    role,
    time: textOf(facts?.['environment.timestamp']) ?? at,
    ip: textOf(facts?.['environment.ip']) ?? ip,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
