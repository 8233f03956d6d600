/** The access to records that admins would lose by a draft. The recorded decisions of a preview may contain none of it. */
import { RULE_ACTIONS, type RuleAction } from '../../actions.ts';
import { snapshotWithDraft } from '../../authz/index.ts';
import type { AccessDraft } from '../../authz/policies/index.ts';
import { UNRESOLVED } from '../../conditions/index.ts';
import { ordinaryResources, type Resource } from '../../resources/index.ts';
import { component, OneOf, Type } from '../../schemas/index.ts';
import type { AdminRequest } from '../admin/index.ts';
import { TEXT } from '../schema-members.ts';
import { decideForCaller, decideForRole, type PartialRequest } from './partial-decisions.ts';

/** Maximum number of permissions that a warning names. */
const NAMED = 50;

/** The schema of a warning about a draft. */
export const DRAFT_WARNING = component(
  'admin.DraftWarning',
  Type.Object({
    code: OneOf(['own-access', 'admin-access'], {
      description:
        '`own-access`: the caller would lose access. `admin-access`: every admin without assignments of their own would lose access.',
    }),
    detail: TEXT,
    todo: Type.String({ description: 'What to do.' }),
    permissions: Type.Array(Type.Object({ resource: TEXT, action: OneOf(RULE_ACTIONS) }), {
      description: `Actions that are not denied now, and denied with the draft. At most ${NAMED}.`,
    }),
  }),
);

interface Permission {
  readonly resource: string;
  readonly action: RuleAction;
}

/** A warning about a draft. */
export interface DraftWarning {
  readonly code: 'own-access' | 'admin-access';
  readonly detail: string;
  readonly todo: string;
  readonly permissions: readonly Permission[];
}

/**
 * Finds the actions that the caller, or each admin by the policies of the role, is not denied now and is denied with the draft, on any record.
 * The endpoints under `/admin/api` need no policy, so the draft could always be taken back there.
 */
export async function findLostAccess(admin: AdminRequest, draft: AccessDraft): Promise<readonly DraftWarning[]> {
  const after = { ...admin, snapshot: snapshotWithDraft(admin.snapshot, draft) };
  const own = await findLost([admin, after], isDeniedToCaller);
  const ofRole = await findLost([admin, after], isDeniedToAdmins);
  return [
    ...toWarning('own-access', 'with the draft, you are denied', own),
    ...toWarning('admin-access', 'with the draft, every admin without assignments of their own is denied', ofRole),
  ];
}

type IsDenied = (admin: AdminRequest, permission: Permission) => Promise<boolean>;

async function findLost([before, after]: readonly [AdminRequest, AdminRequest], isDenied: IsDenied): Promise<readonly Permission[]> {
  const lost: Permission[] = [];
  for (const { name: resource } of ordinaryResources(before.snapshot.definitions)) {
    for (const action of RULE_ACTIONS) {
      await before.tx.checkTime();
      const permission = { resource, action };
      if ((await isDenied(after, permission)) && !(await isDenied(before, permission))) lost.push(permission);
    }
  }
  return lost;
}

async function isDeniedToCaller(admin: AdminRequest, permission: Permission): Promise<boolean> {
  const { tx, snapshot, admin: principal, origin } = admin;
  const assignments = await snapshot.assignments.of(tx, principal.id);
  const environment = { now: undefined, ip: origin.ip };
  const question = { ...toRequest(admin, permission), environment, principal, assignments, ids: undefined, records: new Map() };
  const [decision] = await decideForCaller(admin, question);
  return decision?.effect === 'deny';
}

async function isDeniedToAdmins(admin: AdminRequest, permission: Permission): Promise<boolean> {
  const request = { ...toRequest(admin, permission), record: UNRESOLVED, environment: { now: undefined, ip: undefined } } as const;
  return (await decideForRole(admin, request, 'admin')).decision.effect === 'deny';
}

function toRequest({ snapshot }: AdminRequest, { resource, action }: Permission): Pick<PartialRequest, 'resource' | 'action'> {
  return { resource: snapshot.definitions.get(resource) as Resource, action };
}

function toWarning(code: DraftWarning['code'], who: string, lost: readonly Permission[]): readonly DraftWarning[] {
  if (lost.length === 0) return [];
  const [first, ...others] = lost.map(({ resource, action }) => `${action} on ${resource}`);
  const detail = `${who} ${first}${others.length > 0 ? ` and ${others.length} more actions` : ''}, which the policies in force do not deny`;
  const todo =
    'keep a policy that allows them, or change it back at /admin/api/policies; "bailiwick policies restore-admin" restores full access';
  return [{ code, detail, todo, permissions: lost.slice(0, NAMED) }];
}
