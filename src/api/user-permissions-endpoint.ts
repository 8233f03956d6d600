import { RULE_ACTIONS } from '../actions.ts';
import { UNRESOLVED } from '../conditions/index.ts';
import { type Issue, Problem } from '../errors.ts';
import { describeValue, type Json } from '../operators/index.ts';
import { toSuccess } from '../request/index.ts';
import { type Definitions, ordinaryResources, type Resource, type StoredRecord } from '../resources/index.ts';
import { loadRecord } from '../storage/index.ts';
import { readEnvironment, readMemberObject, readMemberText, readResourceName, toQuestionProblem } from './access-parsing.ts';
import { NOT_ACTIVE } from './access-test-endpoint.ts';
import type { AdminCall, Endpoint } from './admin-endpoint.ts';
import { paramOf, readBody } from './admin-parsing.ts';
import { type AheadQuestion, decideForUser, type KnownUser, showDecision, showUser } from './partial-decisions.ts';

/** "What may this user do?": every resource × every action, and why. Leaves no entry. */
export const userPermissionsEndpoints: readonly Endpoint[] = [
  { method: 'POST', path: '/users/:userId/permissions', handle: userPermissions },
];

/** Milliseconds after which an answer ends with a cursor. Whoever else asks waits meanwhile. */
const ANSWER_TIME = 200;

async function userPermissions(admin: AdminCall): ReturnType<Endpoint['handle']> {
  const { call, tx, snapshot } = admin;
  const user = await loadRecord(tx, snapshot.user, paramOf(call, 'userId'));
  if (user === undefined) throw new Problem('USER_UNKNOWN', 'no user has this id');
  const { cells, next } = await fillCells(admin, readPermissionsQuestion(admin), user);
  const isActive = user['isActive'] === true;
  const extras = {
    user: { ...showUser(user), isActive },
    count: cells.length,
    ...(next !== undefined && { nextCursor: toCellCursor(next) }),
    ...(!isActive && { warnings: [NOT_ACTIVE] }),
  };
  return { status: 200, body: toSuccess(cells, extras) };
}

/** One resource and action. */
type Cell = Pick<AheadQuestion, 'resource' | 'action'>;

interface PermissionsQuestion extends Pick<AheadQuestion, 'environment'> {
  readonly resources: readonly Resource[];
  /** Where the answer before ended. */
  readonly cursor: string | undefined;
}

/** One after the other, at least one, until the time is over; `next` is then the first that is still to do. */
async function fillCells(
  admin: AdminCall,
  { resources, environment, cursor }: PermissionsQuestion,
  user: StoredRecord,
): Promise<{ readonly cells: readonly object[]; readonly next: Cell | undefined }> {
  const known = { user, grants: await admin.snapshot.assignments.of(admin.tx, user.id) };
  const end = performance.now() + ANSWER_TIME;
  const all = resources.flatMap((resource) => RULE_ACTIONS.map((action): Cell => ({ resource, action })));
  const start = cursor === undefined ? 0 : all.findIndex((cell) => toCellCursor(cell) === cursor);
  if (start < 0) throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the answer before');
  const cells: object[] = [];
  for (const cell of all.slice(start)) {
    if (cells.length > 0 && performance.now() > end) return { cells, next: cell };
    cells.push(await foresee(admin, { ...cell, record: UNRESOLVED, environment }, known));
  }
  return { cells, next: undefined };
}

function toCellCursor({ resource, action }: Cell): string {
  return Buffer.from(`${resource.name} ${action}`).toString('base64url');
}

async function foresee(admin: AdminCall, question: AheadQuestion, user: KnownUser): Promise<object> {
  const { decision } = await decideForUser(admin, question, user);
  const { effect, ...others } = showDecision(decision);
  return { resource: question.resource.name, action: question.action, effect, reason: decision.reason, ...others };
}

function readPermissionsQuestion({ call, snapshot }: AdminCall): PermissionsQuestion {
  const { body, issues } = readBody(call, ['resources', 'environment', 'cursor']);
  const cursor = readMemberText(body, 'cursor', issues);
  const environment = readEnvironment(readMemberObject(body, 'environment', issues), issues);
  const resources = readResources(body['resources'], snapshot.definitions, issues);
  if (issues.length > 0) throw toQuestionProblem(issues, 'the question');
  return { resources, environment, cursor };
}

/** Those that are named, each once; without names, all. */
function readResources(given: Json | undefined, definitions: Definitions, issues: Issue[]): readonly Resource[] {
  const ordinary = ordinaryResources(definitions);
  if (given === undefined) return ordinary;
  if (!Array.isArray(given) || given.length === 0 || given.length > ordinary.length) {
    const detail = `expected a list of 1 to ${ordinary.length} names of resources, given ${describeValue(given)}`;
    issues.push({ path: 'resources', code: 'type', detail });
    return [];
  }
  const named = given.flatMap((name: Json, index) => readResourceName(name, definitions, { path: `resources.${index}`, issues }) ?? []);
  return [...new Set(named)];
}
