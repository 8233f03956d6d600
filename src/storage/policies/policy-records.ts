import type { Policy, PolicyInput, PolicyRule, RuleInput } from '../../authz/policies/index.ts';
import { type Issue, Problem } from '../../errors.ts';
import { createId } from '../../ids.ts';
import { type Sql, sql } from '../../sql.ts';
import { ConstraintError, type Transaction } from '../contract.ts';
import { idList } from '../table-names.ts';
import { endAssignments } from './assignment-records.ts';
import { requireUnmanaged } from './managed-policies.ts';
import { storeVersion, type Version, type VersionChange } from './policy-history.ts';
import type { LoadedPolicy } from './policy-rows.ts';
import { deleteFrom, insertInto, POLICY_TABLES, replaceIn, type Selection, selectFrom, writeAll } from './policy-tables.ts';
import { advanceRevision, lockPolicies } from './revision.ts';

/** The author of a change, for the policy history. */
export interface Author {
  /** A user id, or the name of a command. */
  readonly by: string;
  /** The reason that the author gave. */
  readonly reason?: string | undefined;
}

/** The author of a change of one policy. */
interface PolicyAuthor extends Author {
  readonly id: string;
  /** The policy, if the transaction has loaded it with `loadPolicyToChange`. */
  readonly loaded?: Policy | undefined;
  /** True if the author may change what files manage. */
  readonly overridesFiles?: true | undefined;
}

/** Loads a policy with its rules. */
export async function loadPolicy(tx: Transaction, id: string): Promise<Policy | undefined> {
  const [policy] = await loadPolicies(tx, sql`"id" = ${id}`);
  return policy;
}

/** Loads and locks a policy that this transaction is about to change. Throws POLICY_UNKNOWN. */
export async function loadPolicyToChange(tx: Transaction, id: string): Promise<Policy> {
  // Sent together: the server loads the policy after it has granted the lock.
  const [, policy] = await Promise.all([lockPolicies(tx), loadPolicyOrRefuse(tx, id)]);
  return policy;
}

/** Lists all policies in the order of creation, within the time limit of the request. */
export function listPolicies(tx: Transaction): Promise<readonly Policy[]> {
  return loadPolicies(tx, sql`1 = 1`, { isLimited: true });
}

/** Loads the policies with these ids, which may be none. */
export async function loadPoliciesById(tx: Transaction, ids: readonly string[]): Promise<readonly Policy[]> {
  return ids.length === 0 ? [] : loadPolicies(tx, sql`"id" IN ${idList(tx.dialect, ids)}`);
}

/** Loads the policies with these names. */
export function loadPoliciesByName(tx: Transaction, names: readonly string[]): Promise<readonly Policy[]> {
  return loadPolicies(tx, sql`"name" IN ${idList(tx.dialect, names)}`);
}

/** Creates a policy. Throws POLICY_EXISTS if its name is taken. */
export async function createPolicy(tx: Transaction, input: PolicyInput, author: Author): Promise<Policy> {
  await lockPolicies(tx);
  const draft = newPolicy(input, { by: author.by, now: tx.now });
  await checkNameFree(tx, draft);
  const revision = await advanceRevision(tx);
  const policy = { ...draft, version: revision };
  // Sent together, and executed in this order.
  await Promise.all([
    refusingTakenName(policy.name, () => insertInto(tx, POLICY_TABLES.policy, policy)),
    insertRules(tx, policy.rules),
    storeVersion(tx, { ...author, ...toSubject(policy.id), value: policy, revision }),
  ]);
  return policy;
}

/** Replaces a policy. Rules with the id of an existing rule keep id and createdAt. Throws POLICY_UNKNOWN, POLICY_MANAGED, POLICY_EXISTS. */
export async function updatePolicy(
  tx: Transaction,
  input: PolicyInput,
  { id, loaded, overridesFiles, ...author }: PolicyAuthor,
): Promise<Policy> {
  const existing = loaded ?? (await loadPolicyToChange(tx, id));
  if (overridesFiles !== true) requireUnmanaged(existing);
  const draft = changedPolicy(existing, input, tx.now);
  if (draft.name !== existing.name) await checkNameFree(tx, draft);
  const revision = await advanceRevision(tx);
  const policy = { ...draft, version: revision };
  // Sent together, and executed in this order.
  await Promise.all([
    refusingTakenName(policy.name, () => replaceIn(tx, POLICY_TABLES.policy, policy)),
    deleteFrom(tx, POLICY_TABLES.rule, sql`"policyId" = ${id}`),
    insertRules(tx, policy.rules),
    storeVersion(tx, { ...author, ...toSubject(id), value: policy, revision }),
  ]);
  return policy;
}

/**
 * Stores a past version of a policy as its new version, at a revision that the caller has created. The rules keep their ids. Creates the policy
 * if it is deleted. Throws POLICY_EXISTS.
 */
export async function restorePolicy(tx: Transaction, past: Policy, change: VersionChange): Promise<Policy> {
  const policy = { ...past, updatedAt: new Date(tx.now).toISOString(), version: change.revision };
  await checkNameFree(tx, policy);
  await deleteFrom(tx, POLICY_TABLES.rule, sql`"policyId" = ${policy.id}`);
  await refusingTakenName(policy.name, () => writeAll(tx, POLICY_TABLES.policy, [policy]));
  await insertRules(tx, policy.rules);
  await storeVersion(tx, { ...change, ...toSubject(policy.id), value: policy });
  return policy;
}

/** Deletes a policy with its rules and assignments; their versions stay in the history. Throws POLICY_UNKNOWN, POLICY_MANAGED. */
export async function deletePolicy(tx: Transaction, id: string, author: Author): Promise<Policy> {
  const policy = await loadPolicyToChange(tx, id);
  requireUnmanaged(policy);
  await endPolicy(tx, id, { ...author, revision: await advanceRevision(tx) });
  return policy;
}

/** Deletes a policy with its rules and assignments, at a revision that the caller has created. */
export async function endPolicy(tx: Transaction, id: string, change: VersionChange): Promise<void> {
  await endAssignments(tx, id, change);
  await deleteFrom(tx, POLICY_TABLES.rule, sql`"policyId" = ${id}`);
  await deleteFrom(tx, POLICY_TABLES.policy, sql`"id" = ${id}`);
  await storeVersion(tx, { ...change, ...toSubject(id), value: undefined });
}

function toSubject(id: string): Pick<Version, 'kind' | 'id' | 'policyId'> {
  return { kind: 'policy', id, policyId: id };
}

/** Loads the policies that match a condition on `_Policy`, with their rules in order. Does not compare their checksums. */
export async function loadPolicies(
  tx: Transaction,
  where: Sql,
  { isLimited = false }: Pick<Selection, 'isLimited'> = {},
): Promise<readonly Policy[]> {
  const ofThese = sql`"policyId" IN (SELECT "id" FROM "_Policy" WHERE ${where})`;
  const inOrder = ['policyId', 'position'];
  const [policies, rules] = await Promise.all([
    selectFrom<LoadedPolicy>(tx, POLICY_TABLES.policy, { where, orderBy: ['createdAt', 'id'], isLimited }),
    selectFrom<PolicyRule>(tx, POLICY_TABLES.rule, { where: ofThese, orderBy: inOrder, without: ['position'], isLimited }),
  ]);
  const byPolicy = Map.groupBy(rules, (rule) => rule.policyId);
  // The loaded objects are completed and not copied: a start loads a hundred thousand of them.
  for (const policy of policies) policy.rules = byPolicy.get(policy.id) ?? [];
  return policies;
}

async function loadPolicyOrRefuse(tx: Transaction, id: string): Promise<Policy> {
  const policy = await loadPolicy(tx, id);
  if (policy === undefined) throw new Problem('POLICY_UNKNOWN', 'no policy has this id');
  return policy;
}

/** A policy without the revision that stores it. */
export type PolicyDraft = Omit<Policy, 'version'>;

/** Returns a new policy with new ids, without a revision. */
export function newPolicy(input: PolicyInput, { by, now }: Author & { readonly now: number }): PolicyDraft {
  const at = new Date(now).toISOString();
  const id = createId();
  const rules = toRules(input.rules, { policyId: id, at });
  return { ...toOwnMembers(input), id, createdBy: input.createdBy ?? by, createdAt: at, updatedAt: at, rules };
}

/** Returns the changed policy. Rules with the id of an existing rule keep id and createdAt. */
export function changedPolicy(existing: Policy, input: PolicyInput, now: number): PolicyDraft {
  const at = new Date(now).toISOString();
  return { ...existing, ...toOwnMembers(input), updatedAt: at, rules: toRules(input.rules, { policyId: existing.id, at, existing }) };
}

function toOwnMembers({ name, description, type, isActive, priority, tags }: PolicyInput): Omit<PolicyInput, 'rules' | 'createdBy'> {
  return { name, description, type, isActive, priority, tags };
}

interface RuleParts {
  readonly policyId: string;
  readonly at: string;
  readonly existing?: PolicyDraft;
}

function toRules(inputs: readonly RuleInput[], { policyId, at, existing }: RuleParts): readonly PolicyRule[] {
  return inputs.map(({ resource, action, effect, conditions, priority, description, isActive, id }) => {
    const known = existing?.rules.find((rule) => rule.id === id);
    return {
      id: known?.id ?? createId(),
      policyId,
      resource,
      action,
      effect,
      conditions,
      priority,
      description,
      isActive,
      createdAt: known?.createdAt ?? at,
    };
  });
}

async function insertRules(tx: Transaction, rules: readonly PolicyRule[]): Promise<void> {
  await Promise.all(rules.map((rule, position) => insertInto(tx, POLICY_TABLES.rule, { ...rule, position })));
}

async function checkNameFree(tx: Transaction, { id, name }: Pick<Policy, 'id' | 'name'>): Promise<void> {
  const taken = await tx.one(sql`SELECT 1 AS "taken" FROM "_Policy" WHERE "name" = ${name} AND "id" <> ${id}`);
  if (taken !== undefined) throw takenName(name);
}

/**
 * Runs `work` and converts a violation of the unique index on names to POLICY_EXISTS. It happens if two transactions use the same name at
 * once.
 */
async function refusingTakenName(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ConstraintError && error.constraint === 'unique') throw takenName(name, error);
    throw error;
  }
}

function takenName(name: string, cause?: unknown): Problem {
  const errors: readonly Issue[] = [{ path: 'name', code: 'taken', detail: `another policy is named ${JSON.stringify(name)}` }];
  return new Problem('POLICY_EXISTS', `another policy is named ${JSON.stringify(name)}`, { errors, cause });
}
