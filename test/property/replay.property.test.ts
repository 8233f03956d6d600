/**
 * A replay of an audit entry is the decision that the same request would get under other policies. Each case decides a random request, keeps
 * only what the audit log keeps, replays it under two other random states, and compares the replays with decisions on all values.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type AuditEntry,
  compareReplays,
  createReplayFrame,
  createReplayScope,
  factsOf,
  hasSameRules,
  type Replay,
  type ReplayChange,
  readsToExplain,
  recordedPaths,
  replayEntry,
  withRecordedOutcome,
} from '../../src/audit/index.ts';
import { createScope, type ScopeInput } from '../../src/authz/context/index.ts';
import { type Decision, decidingRule } from '../../src/authz/decision/index.ts';
import type { ApplicableRules } from '../../src/authz/policies/index.ts';
import { evaluate, UNRESOLVED } from '../../src/conditions/index.ts';
import type { JsonObject } from '../../src/operators/index.ts';
import { casesOf } from '../budget.ts';
import { NEWSROOM, NOW, policyOf, resourceOf, toRole, type WholeState } from '../policy-fixtures.ts';
import { authorOf, decideNewsroom } from '../reference/newsroom-facts.ts';
import { decideWithRules, newsroomParts, newsroomRecord, newsroomState } from './random-newsroom.ts';

const frame = createReplayFrame(resourceOf('Article'), NEWSROOM);

/** A past request. For an update, `changed` is the record after the change. */
interface Past {
  readonly parts: ScopeInput;
  readonly changed: JsonObject;
  /** Maximum size of the stored values. */
  readonly factsBytes: number;
}

const past: fc.Arbitrary<Past> = fc
  .record({
    parts: newsroomParts,
    record: newsroomRecord,
    changed: newsroomRecord,
    kind: fc.constantFrom('list', 'update', 'any'),
    factsBytes: fc.constantFrom(10_000, 10_000, 60),
  })
  .map(({ parts, record, changed, kind, factsBytes }) => {
    const action = kind === 'any' ? parts.action : kind;
    const isMany = action === 'list' || action === 'export';
    const { principal } = parts;
    const decided: ScopeInput = {
      ...parts,
      // A caller without a token has no attributes.
      principal: principal.id === undefined ? { ...principal, attributes: {} } : principal,
      action,
      ...onRecord(isMany ? UNRESOLVED : action === 'update' ? record : parts.record),
      recordId: isMany || action === 'create' || action === 'import' ? undefined : 'a1',
    };
    return { parts: decided, changed: { ...changed, id: 'a1' }, factsBytes };
  });

/** Conditions on an article, which most random states lack. */
const CONDITIONS: readonly JsonObject[] = [
  { field: 'resource.status', operator: 'eq', value: 'draft' },
  { field: 'resource.authorId', operator: 'eq', value: `\${user.id}` },
  { not: { field: 'resource.views', operator: 'gt', value: 5, ifExists: true } },
  { field: 'resource.authorId.role', operator: 'ne', value: `\${user.department}` },
];

/** A random state, in half of the cases with a rule that allows everything on the articles that meet a condition. */
const state: fc.Arbitrary<WholeState> = fc.oneof(
  newsroomState,
  fc.tuple(newsroomState, fc.constantFrom(...CONDITIONS)).map(([some, condition]) => ({
    ...some,
    policies: [...some.policies, policyOf('more', [{ resource: 'Article', conditions: [condition] }])],
    rolePolicies: [...some.rolePolicies, toRole('user', 'more'), toRole('editor', 'more')],
  })),
);

/** Returns the members of a scope for a record and its author. */
function onRecord(record: ScopeInput['record']): Pick<ScopeInput, 'record' | 'referenced'> {
  if (record === UNRESOLVED) return { record, referenced: new Map() };
  const stored = record === undefined ? undefined : { ...record, id: 'a1' };
  return { record: stored, referenced: authorOf(stored) };
}

/** Returns the names of the fields whose values differ between two records. */
function fieldsOf(before: ScopeInput['record'], after: JsonObject): string[] {
  const stored = before === UNRESOLVED || before === undefined ? {} : before;
  return [...new Set([...Object.keys(stored), ...Object.keys(after)])].filter(
    (name) => JSON.stringify(stored[name]) !== JSON.stringify(after[name]),
  );
}

/** Decides a request as the pipeline does, on all its values: an update before and after the change. */
function decideAll(state: WholeState, { parts, changed }: Past): readonly ScopeInput[] {
  const first = decideWithRules(state, parts).decision;
  return parts.action !== 'update' || first.effect === 'deny' ? [parts] : [parts, { ...parts, ...onRecord(changed) }];
}

/** Returns the entry of a past request: the last decision, with the values that the audit log keeps of it. */
function record(state: WholeState, request: Past): { readonly entry: AuditEntry; readonly applicable: ApplicableRules } {
  const decided = decideAll(state, request).at(-1) as ScopeInput;
  const { applicable, decision } = decideWithRules(state, decided);
  const values = factsOf(readsToExplain(applicable, decision), createScope(decided), { maxBytes: request.factsBytes });
  const fields = decided.action === 'update' ? { fields: fieldsOf(request.parts.record, request.changed) } : undefined;
  const { principal, action, recordId, origin } = decided;
  const rule = decidingRule(decision);
  const entry: AuditEntry = {
    id: 'e1',
    at: new Date(NOW).toISOString(),
    kind: 'access',
    userId: principal.id,
    role: principal.role,
    resource: 'Article',
    action,
    recordId,
    allowed: decision.effect !== 'deny',
    reason: decision.reason,
    ruleId: rule?.id,
    policyId: rule?.policy.id,
    epoch: 1,
    requestId: 'r1',
    ip: origin.ip,
    facts: { ...values, ...fields },
  };
  return { entry, applicable };
}

/** Articles, one of which has no value but its id. */
const ARTICLES: readonly JsonObject[] = [undefined, 'draft', 'published'].flatMap((status) =>
  [undefined, 'u1', 'u2'].map((authorId) => ({ id: 'a1', ...(status && { status }), ...(authorId && { authorId }), views: 10 })),
);

/** Returns the outcome of a request under a state, on all its values: for a list, which articles it contains. */
function outcomeOf(state: WholeState, request: Past): string {
  const { parts } = request;
  if (parts.record === UNRESOLVED) return listOf(decideWithRules(state, parts).decision, parts);
  const decided = decideAll(state, request);
  const isAllowed = decided.every((each) => decideWithRules(state, each).decision.effect === 'allow');
  // The reference decider agrees.
  expect(decided.every((each) => decideNewsroom(state, each).allowed)).toBe(isAllowed);
  return isAllowed ? 'allow' : 'deny';
}

function listOf(decision: Decision, parts: ScopeInput): string {
  if (decision.effect !== 'allow-where') return decision.effect;
  const contained = ARTICLES.map((article) => evaluate(decision.where, createScope({ ...parts, ...onRecord(article) })) === true);
  return contained.map((isContained) => (isContained ? '1' : '0')).join('');
}

const isList = (outcome: string): boolean => outcome !== 'allow' && outcome !== 'deny';

/** Expects that a replay of one state has the outcome of the request, or is unknown. */
function expectOutcome(replay: Replay, outcome: string): void {
  if (replay.effect === 'unknown') return;
  expect(replay.effect).toBe(isList(outcome) ? 'conditional' : outcome);
}

/** Returns the change that two outcomes are. */
function changeOf(before: string, after: string): ReplayChange {
  if (before === after) return 'same';
  if (before === 'deny') return 'denyToAllow';
  return after === 'deny' ? 'allowToDeny' : 'changed';
}

const runs = { numRuns: casesOf(1000) };

it('a replay compares the decisions that the request would get on all its values', () => {
  const counts: Record<ReplayChange, number> = { same: 0, allowToDeny: 0, denyToAllow: 0, changed: 0, unknown: 0 };
  fc.assert(
    fc.property(state, fc.option(state, { nil: undefined }), state, past, (then, later, draft, request) => {
      const live = later ?? then;
      const { entry, applicable } = record(then, request);
      const recorded = recordedPaths(entry, applicable);
      const scope = createReplayScope(entry, frame, { recorded, timeZone: 'UTC' });
      const rules = [live, draft].map((state) => decideWithRules(state, request.parts).applicable) as [ApplicableRules, ApplicableRules];
      const [replayed, after] = rules.map((each) => replayEntry(entry, each, scope)) as [Replay, Replay];
      const isThen = later === undefined && compareReplays(replayed, after) === 'unknown';
      const before = isThen ? withRecordedOutcome(replayed, entry) : replayed;
      const [was, becomes] = [outcomeOf(live, request), outcomeOf(draft, request)];
      expectOutcome(before, was);
      expectOutcome(after, becomes);
      const change = compareReplays(before, after);
      counts[change]++;
      // Two lists with different conditions may contain the same articles.
      if (change === 'changed') expect([isList(was) || isList(becomes), was === 'deny', becomes === 'deny']).toEqual([true, false, false]);
      else if (change !== 'unknown') expect(change).toBe(changeOf(was, becomes));
      else expectUnkept(entry, rules, { before, after, recorded });
      if (hasSameRules(...rules)) expect(was).toBe(becomes);
    }),
    runs,
  );
  for (const change of ['same', 'allowToDeny', 'denyToAllow', 'unknown'] as const)
    expect(counts[change], change).toBeGreaterThan(runs.numRuns / 30);
  expect(counts.changed).toBeGreaterThan(runs.numRuns / 200);
});

interface Unknown {
  readonly before: Replay;
  readonly after: Replay;
  readonly recorded: ReadonlySet<string>;
}

/** Expects that an unknown change names missing values, and only paths that a rule reads and the entry does not have. */
function expectUnkept(entry: AuditEntry, rules: readonly ApplicableRules[], { before, after, recorded }: Unknown): void {
  const missing = [before, after].flatMap((replay) => (replay.effect === 'unknown' ? replay.missing : []));
  expect(missing).not.toEqual([]);
  const { fields = [], ...values } = entry.facts ?? {};
  const isCut = Object.keys(values).includes('*') || Object.values(values).some((value) => JSON.stringify(value) === '{"notKept":true}');
  const read = new Set(rules.flatMap(({ reads }) => reads.map(({ path }) => path.text)));
  for (const path of missing) {
    expect(read).toContain(path);
    const isChanged = (fields as readonly string[]).some((name) => `${path}.`.startsWith(`resource.${name}.`)) && entry.action === 'update';
    expect(isCut || isChanged || (!recorded.has(path) && !(path in values)), path).toBe(true);
  }
}
