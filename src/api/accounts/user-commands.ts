/**
 * Creates and changes users for the CLI, for operators with access to the database, for example when no admin can log in. The commands
 * need no token, and no policy applies. Each change has an audit entry of kind `admin` that names the command.
 */
import { appendSystemEntry } from '../../audit/index.ts';
import { deleteSetupTokens, hasAdmin, resetAccountAttempts, revokeSessions, validateAdminRemains } from '../../authn/index.ts';
import type { Principal } from '../../authz/context/index.ts';
import { type Issue, Problem } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import { proposeChange, proposeRecord } from '../../pipeline/index.ts';
import type { Resource, StoredRecord } from '../../resources/index.ts';
import { ConstraintError, currentRevision, insertRecord, loadUserByEmail, type Transaction, updateRecord } from '../../storage/index.ts';
import type { AdminDeps } from '../admin/index.ts';
import { grantFullAccess } from '../policies/index.ts';

/** A new password for a stored user. */
export interface CommandPassword {
  readonly email: string;
  readonly password: string;
}

/** A user that is created. */
export interface CommandUser extends CommandPassword {
  readonly name: string;
  /** The role; the default of the definition if absent. */
  readonly role?: string | undefined;
}

/** A role for a stored user. */
export interface CommandPromotion {
  readonly email: string;
  readonly role: string;
}

type UserCommandDeps = Pick<AdminDeps, 'database' | 'identity' | 'policyStore'>;

/** The principal of CLI commands: an admin, because operators may set guarded fields. */
const OPERATOR: Principal = { id: undefined, role: 'admin', attributes: {} };

/** Sets the password of a user, ends their sessions and resets their login attempts. Returns a message. @throws Problem USER_UNKNOWN, VALUE_INVALID */
export async function setPasswordFromCommand(
  { database, identity, policyStore }: UserCommandDeps,
  { email, password }: CommandPassword,
): Promise<string> {
  const propose = async (tx: Transaction): Promise<{ definition: Resource; user: StoredRecord }> => {
    const definition = (await policyStore.snapshot(tx)).user;
    const user = await loadUserByEmail(tx, definition, { email, forUpdate: true });
    refuse(proposeChange({ resource: definition, principal: OPERATOR, now: tx.now }, user, { password }).issues);
    return { definition, user };
  };
  await database.transaction(propose);
  const hash = await identity.hashPassword(password);
  return database.transaction(async (tx) => {
    const { definition, user } = await propose(tx);
    await change(tx, definition, { user, values: { password: hash } });
    await revokeSessions(tx, user.id);
    await resetAccountAttempts(tx, [String(user['email']), user.id]);
    await note(tx, { action: 'update', user, reason: 'set the password and ended every session', by: 'bailiwick user password' });
    const state = user['isActive'] === true ? '' : '; the user is not active, and bailiwick user promote activates users';
    return `the password of ${user['email']} was set and every session ended${state}`;
  });
}

/** Creates a user. Returns a message. @throws Problem VALUE_INVALID, RECORD_EXISTS */
export async function createUserFromCommand({ database, identity, policyStore }: UserCommandDeps, given: CommandUser): Promise<string> {
  const { role, ...others } = given;
  const propose = async (tx: Transaction): Promise<{ definition: Resource; record: StoredRecord }> => {
    const definition = (await policyStore.snapshot(tx)).user;
    const data = { ...others, ...(role !== undefined && { role }) };
    const { record, issues } = proposeRecord({ resource: definition, principal: OPERATOR, now: tx.now }, data);
    refuse(issues, 'created');
    return { definition, record };
  };
  await database.transaction(propose);
  const password = await identity.hashPassword(given.password);
  return database.transaction(async (tx) => {
    const { definition, record } = await propose(tx);
    await asFirstAdmin(tx, record, () => insert(tx, definition, { ...record, password }));
    const by = 'bailiwick user create';
    await note(tx, { action: 'create', user: record, reason: `created a user with role ${record['role']}`, by });
    return `user ${record['email']} was created with role ${record['role']}`;
  });
}

/** Gives a stored user a role and activates the user. Returns a message. @throws Problem USER_UNKNOWN, VALUE_INVALID, IDENTITY_LAST_ADMIN */
export async function promoteUserFromCommand(
  { database, policyStore }: UserCommandDeps,
  { email, role }: CommandPromotion,
): Promise<string> {
  return database.transaction(async (tx) => {
    const definition = (await policyStore.snapshot(tx)).user;
    const user = await loadUserByEmail(tx, definition, { email, forUpdate: true });
    const proposal = proposeChange({ resource: definition, principal: OPERATOR, now: tx.now }, user, { role, isActive: true });
    refuse(proposal.issues);
    await validateAdminRemains(tx, { userId: user.id, role, isActive: true });
    await asFirstAdmin(tx, proposal.record, () => change(tx, definition, { user, values: proposal.values }));
    await note(tx, { action: 'update', user, reason: describePromotion(user, role), by: 'bailiwick user promote' });
    return `user ${user['email']} has role ${role} and is active`;
  });
}

/** Returns a message that describes the changes that a promotion made to the stored user. */
function describePromotion(user: StoredRecord, role: string): string {
  const done = [
    ...(user['role'] === role ? [] : [`changed the role from ${user['role']} to ${role}`]),
    ...(user['isActive'] === true ? [] : ['activated the user']),
  ];
  return done.length === 0 ? `changed nothing: the user had role ${role} and was active` : done.join(', and ');
}

/** Runs `work`, which stores the user. If the user becomes the first admin, also creates the policy of full access and closes setup. */
async function asFirstAdmin(tx: Transaction, user: StoredRecord, work: () => Promise<void>): Promise<void> {
  await tx.lock('setup');
  const isFirst = user['role'] === 'admin' && !(await hasAdmin(tx));
  await work();
  if (!isFirst) return;
  await deleteSetupTokens(tx);
  await grantFullAccess(tx, user, { requestId: 'bailiwick user', method: '', path: '', ip: '' });
}

/** The stored user and the values that change. */
interface UserUpdate {
  readonly user: StoredRecord;
  readonly values: JsonObject;
}

async function change(tx: Transaction, definition: Resource, { user: { id, version }, values }: UserUpdate): Promise<void> {
  if (!(await updateRecord(tx, definition, { id, version, values, cleared: [], now: tx.now })))
    throw new Problem('RECORD_VERSION', 'the user has changed meanwhile; run the command again');
}

async function insert(tx: Transaction, definition: Resource, record: JsonObject): Promise<void> {
  try {
    await insertRecord(tx, definition, record);
  } catch (error) {
    if (!(error instanceof ConstraintError) || error.constraint !== 'unique') throw error;
    throw new Problem(
      'RECORD_EXISTS',
      `another user has the email ${record['email']}; to change that user, run "bailiwick user password" or "bailiwick user promote"`,
      {
        cause: error,
      },
    );
  }
}

function refuse(errors: readonly Issue[], done: 'created' | 'changed' = 'changed'): void {
  if (errors.length > 0) throw new Problem('VALUE_INVALID', `the user was not ${done}`, { errors });
}

interface Deed {
  readonly action: 'create' | 'update';
  readonly user: StoredRecord;
  readonly reason: string;
  readonly by: string;
}

async function note(tx: Transaction, { user, ...deed }: Deed): Promise<void> {
  appendSystemEntry(tx, { ...deed, resource: 'User', recordId: user.id, epoch: await currentRevision(tx) });
}
