/** The resources on which a caller may be allowed an action, for the navigation and the forms of a program. */
import { RULE_ACTIONS, type RuleAction } from '../../actions.ts';
import { AUDIT_ACTIONS } from '../../authz/policies/index.ts';
import type { Field } from '../../fields/index.ts';
import type { UnitOfWork } from '../../pipeline/index.ts';
import { describeResource, ordinaryResources, type Resource } from '../../resources/index.ts';
import type { TypeOf } from '../../schemas/index.ts';
import { decideForCaller } from '../access/index.ts';
import { type AuditAction, decideAuditRight, type OwnAuditRight } from '../admission/index.ts';
import { type RESOURCE_DESCRIPTION, withoutSecretFields } from '../records/index.ts';

/** An action that is not denied. */
interface OwnAction {
  readonly action: RuleAction;
  readonly effect: 'allow' | 'conditional';
}

/** The resources that a caller may use, and the rights on the audit log. */
export interface OwnResources {
  readonly resources: readonly {
    readonly definition: TypeOf<typeof RESOURCE_DESCRIPTION>;
    readonly permissions: readonly OwnAction[];
  }[];
  readonly auditLog?: { readonly permissions: readonly OwnAction[] };
}

/**
 * Decides every action of the caller on every resource, with the record and the request unknown, within the time limit of the request. The
 * decisions have no audit entries: they are no more than `decide` on the policies in force, and concern no record.
 */
export async function loadOwnResources(unit: UnitOfWork): Promise<OwnResources> {
  const found = new Map<Resource, readonly OwnAction[]>();
  for (const resource of ordinaryResources(unit.snapshot.definitions)) {
    const permissions = await decideActions(unit, resource);
    if (permissions.length > 0) found.set(resource, permissions);
  }
  const visible = new Set([...found.keys()].map(({ name }) => name));
  const auditLog = await decideAuditActions(unit);
  return {
    resources: [...found].map(([resource, permissions]) => ({ definition: describe(resource, visible), permissions })),
    ...(auditLog.length > 0 && { auditLog: { permissions: auditLog } }),
  };
}

async function decideActions({ tx, snapshot, principal, caller, options }: UnitOfWork, resource: Resource): Promise<readonly OwnAction[]> {
  const assignments = await snapshot.assignments.of(tx, principal.id);
  const environment = { now: undefined, ip: caller.origin.ip };
  const permissions: OwnAction[] = [];
  for (const action of RULE_ACTIONS) {
    const question = { resource, action, environment, principal, assignments, ids: undefined, records: new Map() };
    const [decision] = await decideForCaller({ tx, snapshot, deps: options }, question);
    if (decision === undefined || decision.effect === 'deny') continue;
    permissions.push({ action, effect: decision.effect === 'allow' ? 'allow' : 'conditional' });
  }
  return permissions;
}

async function decideAuditActions(unit: UnitOfWork): Promise<readonly OwnAction[]> {
  const permissions: OwnAction[] = [];
  for (const action of AUDIT_ACTIONS) {
    const { effect } = await decideAuditAction(unit, action);
    if (effect !== 'deny') permissions.push({ action, effect });
  }
  return permissions;
}

/** Decides an action of the caller on the audit log, without an audit entry. */
export function decideAuditAction({ tx, snapshot, principal, caller, options }: UnitOfWork, action: AuditAction): Promise<OwnAuditRight> {
  return decideAuditRight(tx, { origin: caller.origin, principal, snapshot, action, timeZone: options.timeZone });
}

/** Describes a resource without its secret fields. References to other resources than the visible ones do not name them. */
function describe(resource: Resource, visible: ReadonlySet<string>): TypeOf<typeof RESOURCE_DESCRIPTION> {
  const open = withoutSecretFields(resource);
  const fields = new Map([...open.fields].map(([name, field]) => [name, withoutHidden(field, visible)]));
  return describeResource({ ...open, fields }) as unknown as TypeOf<typeof RESOURCE_DESCRIPTION>;
}

function withoutHidden(field: Field, visible: ReadonlySet<string>): Field {
  const item = field.of === undefined ? undefined : withoutHidden(field.of, visible);
  const shown = item === undefined ? field : { ...field, of: item };
  return field.to === undefined || visible.has(field.to) ? shown : { ...shown, to: undefined };
}
