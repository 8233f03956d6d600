import {
  type AuditEntry,
  compareReplays,
  createReplayFrame,
  createReplayScope,
  type ReplayChange,
  replayEntry,
} from '../src/audit/index.ts';
import { applicableRules, compilePolicies, type Policy, type PolicyRule } from '../src/authz/policies/index.ts';
import type { Definitions } from '../src/resources/index.ts';
import { parseDefinition } from '../src/resources/index.ts';
import { SYSTEM } from '../src/resources/system/index.ts';
import type { Measurement } from './measurement.ts';
import { race } from './rounds.ts';

const AT = '2026-01-31T09:00:00.000Z';
const ENTRIES = 1000;
/** Numbers of rules that apply to each entry. */
const RULES = [1, 20];

/** Measures replays of audit entries within this process: each is decided under two states of the policies, and the decisions are compared. */
export const replay: Measurement = {
  name: 'replay',
  description: 'Replays of recorded decisions for a preview, each decided twice, in the processor time of this process.',
  optionNames: ['rounds', 'seconds'],
  async run({ rounds, seconds }, onFigure) {
    const racers = RULES.map((rules) => {
      const replayAll = prepare(rules);
      replayAll();
      return { name: rules === 1 ? '1 rule' : `${rules} rules`, turn: async () => ({ value: perSecond(replayAll, seconds * 10) }) };
    });
    for (const { name, rounds: values } of await race(racers, rounds)) {
      const setting = { measurement: 'replay', case: `a recorded decision, ${name}`, setting: 'in process', contestant: 'bailiwick' };
      onFigure({ ...setting, unit: 'replays/s', better: 'more', rounds: values });
    }
  },
};

/** Returns the replays per second of processor time. */
function perSecond(replayAll: () => number, milliseconds: number): number {
  const began = process.threadCpuUsage();
  let replays = 0;
  let spent = 0;
  while (spent < milliseconds * 1000) {
    replays += replayAll();
    const { user, system } = process.threadCpuUsage(began);
    spent = user + system;
  }
  return (replays / spent) * 1_000_000;
}

/** Returns a function that replays all entries, and returns their number. */
function prepare(count: number): () => number {
  const definitions = defineArticle();
  const article = definitions.get('Article');
  if (article === undefined) throw new Error('the definition of Article is missing');
  const frame = createReplayFrame(article, definitions);
  const [live, draft] = [ruleOf(count, 'ALLOW'), ruleOf(count, 'DENY')].map((last) => {
    const rules = [...Array.from({ length: count - 1 }, (_, index) => ruleOf(index, 'ALLOW')), last];
    const state = { revision: 1, policies: [policyOf(rules)], rolePolicies: [ASSIGNMENT] };
    const snapshot = compilePolicies(state, definitions, LIMITS);
    return applicableRules(snapshot, { assignments: [], role: 'user', resource: 'Article', action: 'read', now: Date.parse(AT) });
  });
  if (live === undefined || draft === undefined) throw new Error('expected the rules of two states');
  const texts = Array.from({ length: ENTRIES }, (_, index) => JSON.stringify(entryOf(index, count)));
  return () => {
    const counts = new Map<ReplayChange, number>();
    for (const text of texts) {
      const entry = JSON.parse(text) as AuditEntry;
      const scope = createReplayScope(entry, frame, { timeZone: 'UTC', rules: [live, draft] });
      const change = compareReplays(replayEntry(entry, live, scope), replayEntry(entry, draft, scope));
      counts.set(change, (counts.get(change) ?? 0) + 1);
    }
    if (counts.size < 2) throw new Error('expected entries that change and entries that stay the same');
    return ENTRIES;
  };
}

const LIMITS = {
  rules: 100,
  conditions: {
    depth: 16,
    references: 4,
    comparisons: 200,
    listItems: 100,
    textLength: 1000,
    expressionLength: 1000,
    expressionDepth: 32,
    relatedRecords: 100,
  },
};

const ASSIGNMENT = {
  id: 'a',
  role: 'user',
  policyId: 'p',
  assignedBy: '',
  assignedAt: AT,
  isActive: true,
  priority: 100,
  version: 1,
} as const;

function defineArticle(): Definitions {
  const source = { name: 'Article', fields: { status: { type: 'string' }, authorId: { type: 'string' } } };
  const { resource } = parseDefinition(source, { builtIn: true });
  return new Map([...SYSTEM, ...(resource === undefined ? [] : [[resource.name, resource] as const])]);
}

function ruleOf(index: number, effect: PolicyRule['effect']): PolicyRule {
  const conditions = [
    { field: 'resource.status', operator: 'eq', value: `status ${index}` },
    { field: 'resource.authorId', operator: 'eq', value: `\${user.id}` },
  ];
  return {
    id: `r${index}`,
    policyId: 'p',
    resource: 'Article',
    action: 'read',
    effect,
    conditions,
    priority: 100,
    isActive: true,
    createdAt: AT,
  };
}

function policyOf(rules: readonly PolicyRule[]): Policy {
  const times = { createdAt: AT, updatedAt: AT, createdBy: '' };
  return { id: 'p', name: 'p', type: 'CUSTOM', rules, isActive: true, priority: 100, tags: [], version: 1, ...times };
}

function entryOf(index: number, rules: number): AuditEntry {
  const request = { userId: `u${index}`, role: 'user', resource: 'Article', action: 'read', recordId: `a${index}` };
  const facts = { 'resource.status': `status ${index % (rules + 1)}`, 'resource.authorId': `u${index}` };
  return { id: `e${index}`, at: AT, kind: 'access', ...request, allowed: true, reason: '', epoch: 1, requestId: '', ip: '', facts };
}
