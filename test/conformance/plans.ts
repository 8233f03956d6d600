/**
 * Explains lists in SQLite: the rules are decided as for a request, and each statement of the list is shown with its query plan.
 * The tables are migrated and filled, but not analysed, so a plan depends on definitions and indexes only.
 */

import { createScope, type ScopeInput } from '../../src/authz/context/index.ts';
import { type Decision, decide } from '../../src/authz/decision/index.ts';
import { applicableRules, compilePolicies } from '../../src/authz/policies/index.ts';
import { ALWAYS, all, type Condition, printCondition, UNRESOLVED } from '../../src/conditions/index.ts';
import type { Json, JsonObject } from '../../src/operators/index.ts';
import { resolveSort, resolveWhere, type SortKey } from '../../src/request/index.ts';
import type { Definitions, StoredRecord } from '../../src/resources/index.ts';
import { composeDefinitions } from '../../src/resources/system/index.ts';
import { renderSql } from '../../src/sql.ts';
import {
  type CursorPosition,
  createBudget,
  createRelatedStore,
  type Database,
  insertRecord,
  listRecords,
  migrate,
  openSqlite,
  type Statement,
  type Transaction,
} from '../../src/storage/index.ts';
import { replaceMembers } from '../../src/storage/storage.fixture.ts';
import { assignmentsIn, LIMITS, NOW, policyOf, resourceOf, SCOPE_PARTS, type SomeRule, stateOf, toUser } from '../policy-fixtures.ts';

/** A list of user u7, of the department sports, under the given rules. */
export interface PlanCase {
  readonly name: string;
  readonly rules: readonly SomeRule[];
  readonly sort?: readonly SortKey[];
  /** The filter of the caller: field → value. */
  readonly where?: Readonly<Record<string, Json>>;
  /** Page number from 1. Default: 1. */
  readonly page?: number;
  readonly total?: true;
}

/** The explained list. */
export interface Explained {
  readonly rules: readonly string[];
  /** The residual condition on a record after partial evaluation with the user. */
  readonly residual: string;
  readonly statements: readonly ExplainedStatement[];
  readonly records: readonly StoredRecord[];
  /** All of it as text, for the golden file. */
  readonly text: string;
}

/** A statement with its query plan, one line per step. */
export interface ExplainedStatement extends Statement {
  readonly plan: readonly string[];
}

/** The tables, filled. */
export interface PlanTables {
  explain(planCase: PlanCase): Promise<Explained>;
  close(): Promise<void>;
}

/** A number that SQLite would read differently from the digits that JavaScript prints. */
export const WEIGHT: number = 2 ** 60;

const PAGE = 10;
const USERS = 20;
const ARTICLES = 400;

/** Creates and fills the tables of a small newsroom. */
export async function createPlanTables(): Promise<PlanTables> {
  const database = openSqlite({ path: ':memory:' });
  await migrate(database, definitions);
  await fill(database);
  return { explain: (planCase) => database.transaction((tx) => explain(tx, planCase)), close: () => database.close() };
}

const definitions: Definitions = define(
  { name: 'User', fields: { department: { type: 'string', index: true }, leadId: { type: 'reference', to: 'User', hierarchy: true } } },
  { name: 'Desk', fields: { name: { type: 'string' } } },
  {
    name: 'Article',
    fields: {
      title: { type: 'string', index: true },
      slug: { type: 'string', unique: true },
      status: { type: 'enum', values: ['draft', 'review', 'published'], index: true },
      authorId: { type: 'reference', to: 'User', required: true },
      views: { type: 'integer', index: true },
      publishedAt: { type: 'timestamp' },
      tags: { type: 'list', of: 'string' },
      deskIds: { type: 'list', of: { type: 'reference', to: 'Desk' } },
      extra: { type: 'json' },
      desk: { type: 'enum', values: ['one', 'two'] },
      isLead: { type: 'boolean' },
      weight: { type: 'number' },
    },
    indexes: [
      { fields: ['createdBy'] },
      { fields: ['status', 'publishedAt'] },
      { fields: ['publishedAt'], where: { desk: 'one' } },
      { fields: ['publishedAt'], where: { isLead: true } },
      { fields: ['publishedAt'], where: { weight: WEIGHT } },
    ],
  },
);
const article = resourceOf('Article', definitions);

function define(...sources: readonly JsonObject[]): Definitions {
  const locate = () => ({ line: 1, column: 1 });
  const { definitions, mistakes } = composeDefinitions(sources.map((source) => ({ file: 'test', source, locate })));
  if (mistakes.length > 0) throw new Error(JSON.stringify(mistakes));
  return definitions;
}

function fill(database: Database): Promise<void> {
  const always = (id: string) => ({ id, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' });
  return database.transaction(async (tx) => {
    for (let n = 0; n < USERS; n++) {
      const department = ['sports', 'politics', 'culture'][n % 3] ?? null;
      // The first users lead the others.
      const leadId = n < 4 ? null : `u${(n % 3) + 1}`;
      const fields = { email: `u${n}@example.com`, role: 'user', department, leadId };
      await insertRecord(tx, resourceOf('User', definitions), { ...always(`u${n}`), ...fields });
    }
    for (let n = 0; n < 3; n++) await insertRecord(tx, resourceOf('Desk', definitions), { ...always(`d${n}`), name: `desk ${n}` });
    for (let n = 0; n < ARTICLES; n++) await insertRecord(tx, article, { ...always(`a${String(n).padStart(4, '0')}`), ...toArticle(n) });
  });
}

function toArticle(n: number): JsonObject {
  return {
    title: `${n % 3 === 0 ? 'Report' : 'Story'} ${n}`,
    slug: `s${n}`,
    status: ['draft', 'review', 'published'][(n % 7) % 3] ?? null,
    authorId: `u${n % USERS}`,
    createdBy: `u${n % 8}`,
    views: n % 10 === 9 ? null : n,
    publishedAt: n % 4 === 0 ? null : new Date(NOW - n * 3_600_000).toISOString(),
    tags: n % 2 === 0 ? ['sports'] : ['local', 'news'],
    deskIds: [`d${n % 3}`],
    extra: { desk: n % 2 === 0 ? 'one' : 'two' },
    desk: n % 5 === 0 ? 'one' : 'two',
    isLead: n % 9 === 0,
    weight: n % 20 === 0 ? WEIGHT : n,
  };
}

const who = { userId: 'u7', role: 'user' };
const parts: ScopeInput = {
  ...SCOPE_PARTS,
  principal: { id: 'u7', role: 'user', attributes: { department: 'sports' } },
  action: 'list',
  resource: article,
  record: UNRESOLVED,
  definitions,
};

async function explain(tx: Transaction, planCase: PlanCase): Promise<Explained> {
  const policies = [policyOf('p', planCase.rules)];
  const state = stateOf({ policies, userPolicies: [toUser('u7', 'p')] });
  const asking = { assignments: assignmentsIn(state, who.userId), role: who.role };
  const applicable = applicableRules(compilePolicies(state, definitions, LIMITS), {
    ...asking,
    resource: 'Article',
    action: 'list',
    now: NOW,
  });
  const filter = Object.entries(planCase.where ?? {}).map(([field, value]) => ({ field, operator: 'eq', value }));
  const related = createRelatedStore(tx, definitions);
  const decision = await related.evaluate(() => decide(applicable, createScope({ ...parts, related }), who));
  const where = all([allowedWhere(decision), resolveWhere(article, filter, { typed: true })]);
  // Definitions of its own, because a repeated list reads only the rows up to the end of the last one.
  const own = new Map(definitions);
  const list = (transaction: Transaction, after?: CursorPosition) =>
    listRecords(transaction, article, {
      where,
      scopeFor: (record, reached) => createScope({ ...parts, record, ...reached }),
      definitions: own,
      sort: resolveSort(article, planCase.sort ?? []),
      limit: PAGE,
      after,
      total: planCase.total,
      budget: createBudget({ milliseconds: 60_000, rows: 1000, answerBytes: 8_388_608 }),
      now: NOW,
      timeZone: 'UTC',
    });
  let after: CursorPosition | undefined;
  for (let page = 1; page < (planCase.page ?? 1); page++) {
    after = (await list(tx, after)).next;
    if (after === undefined) throw new Error(`there is no page ${page + 1}`);
  }
  const sent: Statement[] = [];
  const { records } = await list(recording(tx, sent), after);
  const statements: ExplainedStatement[] = [];
  for (const statement of sent) statements.push({ ...statement, plan: await planOf(tx, statement) });
  const rules = applicable.rules.map((rule) => `${rule.effect} ${rule.priority} where ${printCondition(rule.condition)}`);
  const explained = { rules, residual: printCondition(where), statements, records };
  return { ...explained, text: toText(planCase.name, explained) };
}

function allowedWhere(decision: Decision): Condition {
  if (decision.effect === 'deny') throw new Error(decision.reason);
  return decision.effect === 'allow' ? ALWAYS : decision.where;
}

/** Wraps the transaction to record each statement as sent to the database. */
function recording(tx: Transaction, sent: Statement[]): Transaction {
  const recorded = <Query extends Parameters<Transaction['all']>[0]>(query: Query): Query => {
    const { sql: text, parameters } = 'parameters' in query ? query : renderSql(query, tx.dialect.placeholder);
    sent.push({ sql: text, parameters });
    return query;
  };
  return replaceMembers(tx, { all: (query) => tx.all(recorded(query)), one: (query) => tx.one(recorded(query)) });
}

/** Returns the lines of EXPLAIN QUERY PLAN, indented by nesting. */
async function planOf(tx: Transaction, statement: Statement): Promise<readonly string[]> {
  const steps = await tx.all<{ id: number; parent: number; detail: string }>({ ...statement, sql: `EXPLAIN QUERY PLAN ${statement.sql}` });
  const depths = new Map<number, number>([[0, 0]]);
  return steps.map(({ id, parent, detail }) => {
    const depth = depths.get(parent) ?? 0;
    depths.set(id, depth + 1);
    return `${'  '.repeat(depth)}${detail}`;
  });
}

function toText(name: string, { rules, residual, statements, records }: Omit<Explained, 'text'>): string {
  const statementLines = statements.flatMap(({ sql: text, parameters, plan }) => [
    `sql      ${text.replace(/^SELECT "Article"\."id", .*? FROM/, 'SELECT … FROM')}`,
    `values   ${JSON.stringify(parameters)}`,
    ...plan.map((line, index) => `${index === 0 ? 'plan' : '    '}     ${line}`),
  ]);
  const lines = [
    ...rules.map((rule, index) => `${index === 0 ? 'rules' : '     '}    ${rule}`),
    `residual ${residual}`,
    ...statementLines,
    `records  ${records.length}`,
  ];
  return `## ${name}\n\n${lines.join('\n')}\n`;
}
