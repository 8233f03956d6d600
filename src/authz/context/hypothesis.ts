import { OPEN } from '../../conditions/index.ts';
import { type JsonObject, ownValue } from '../../operators/index.ts';
import type { ScopeParts } from './decision-scope.ts';
import type { Principal } from './principal.ts';

/** A context that an admin tries out: whatever it says takes the place of what is stored. */
export interface Hypothesis {
  /** `id`, `role`, `email` and any further attributes. */
  readonly user?: JsonObject | undefined;
  /** `id` and attributes of the record; `name` is the name of the resource and no attribute. */
  readonly resource?: JsonObject | undefined;
  /** Milliseconds since 1970; every value of `environment.…` but `ip` follows from it. */
  readonly now?: number | undefined;
  readonly ip?: string | undefined;
}

/** Lays a hypothetical context over a real one. */
export function layOver(parts: ScopeParts, { user, resource, now, ip }: Hypothesis): ScopeParts {
  return {
    ...parts,
    principal: user === undefined ? parts.principal : principalOver(parts.principal, user),
    ...(resource === undefined ? {} : recordOver(parts, resource)),
    now: now ?? parts.now,
    origin: { ...parts.origin, ip: ip ?? parts.origin.ip },
  };
}

function principalOver(principal: Principal, user: JsonObject): Principal {
  const [id, role] = [ownValue(user, 'id'), ownValue(user, 'role')];
  return {
    id: typeof id === 'string' ? id : principal.id,
    role: typeof role === 'string' ? role : principal.role,
    attributes: { ...principal.attributes, ...user },
  };
}

function recordOver({ record, recordId }: ScopeParts, given: JsonObject): Pick<ScopeParts, 'record' | 'recordId'> {
  const { name: _, ...attributes } = given;
  const id = ownValue(given, 'id');
  return {
    record: { ...(record === OPEN ? {} : record), ...attributes },
    recordId: typeof id === 'string' ? id : recordId,
  };
}
