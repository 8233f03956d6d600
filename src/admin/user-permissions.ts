import { RULE_ACTIONS } from '../actions.ts';
import { OPEN } from '../context/index.ts';
import { type Issue, Problem } from '../errors.ts';
import { describeValue, type Json } from '../operators/index.ts';
import type { Definitions, Resource, StoredRecord } from '../resource/index.ts';
import { toSuccess } from '../response/index.ts';
import { loadRecord } from '../storage/index.ts';
import { type AheadQuestion, decideForUser, showDecision, showUser } from './decide-ahead.ts';
import type { AdminCall, Endpoint } from './endpoint.ts';
import { ordinaryResources, readEnvironment, readMemberObject, readResourceName, toQuestionProblem } from './read-question.ts';
import { paramOf, readBody } from './reading.ts';

/** "What may this user do?": every resource × every action, and why. Leaves no entry. */
export const userPermissionsEndpoints: readonly Endpoint[] = [
  { method: 'POST', path: '/users/:userId/permissions', handle: userPermissions },
];

async function userPermissions(admin: AdminCall): ReturnType<Endpoint['handle']> {
  const { call, tx, model } = admin;
  const user = await loadRecord(tx, model.user, paramOf(call, 'userId'));
  if (user === undefined) throw new Problem('USER_UNKNOWN', 'no user has this id');
  const { resources, environment } = readPermissionsQuestion(admin);
  const cells: object[] = [];
  for (const resource of resources)
    for (const action of RULE_ACTIONS) cells.push(await foresee(admin, { resource, action, record: OPEN, environment }, user));
  const isActive = user['isActive'] === true;
  const warnings = isActive ? {} : { warnings: ['the user is not active: no token of theirs is accepted, whatever policies say'] };
  return { status: 200, body: toSuccess(cells, { user: { ...showUser(user), isActive }, count: cells.length, ...warnings }) };
}

async function foresee(admin: AdminCall, question: AheadQuestion, user: StoredRecord): Promise<object> {
  const { decision } = await decideForUser(admin, question, user);
  const { effect, ...others } = showDecision(decision);
  return { resource: question.resource.name, action: question.action, effect, reason: decision.reason, ...others };
}

function readPermissionsQuestion({
  call,
  model,
}: AdminCall): Pick<AheadQuestion, 'environment'> & { readonly resources: readonly Resource[] } {
  const body = readBody(call, ['resources', 'environment']);
  const issues: Issue[] = [];
  const environment = readEnvironment(readMemberObject(body, 'environment', issues), issues);
  const resources = readResources(body['resources'], model.definitions, issues);
  if (issues.length > 0) throw toQuestionProblem(issues, 'the question');
  return { resources, environment };
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
