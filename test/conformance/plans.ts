/**
 * How SQLite answers a list under given rules: the rules decided as for a request, the statements that the list sends,
 * and what SQLite would do for each. The tables are made by evolution, filled, and never analysed: what a plan says here
 * rests on definitions and indexes alone.
 */

import { createScope, type ReferencedRecords, type ScopeInput } from '../../src/authz/context/index.ts';
import { type Decision, decide } from '../../src/authz/decision/index.ts';
import { applicableRules, compilePolicies } from '../../src/authz/policies/index.ts';
import { ALWAYS, all, type Condition, printCondition, type Scope, UNRESOLVED } from '../../src/conditions/index.ts';
import type { Json, JsonObject } from '../../src/operators/index.ts';
import { resolveSort, resolveWhere, type SortKey } from '../../src/request/index.ts';
import type { Definitions, StoredRecord } from '../../src/resources/index.ts';
import { composeDefinitions } from '../../src/resources/system/index.ts';
import { renderSql } from '../../src/sql.ts';
import {
  type CursorPosition,
  type Database,
  insertRecord,
  listRecords,
  migrate,
  openSqlite,
  type Statement,
  type Transaction,
} from '../../src/storage/index.ts';
import { grantsIn, LIMITS, NOW, policyOf, resourceOf, SCOPE_PARTS, type SomeRule, stateOf, toUser } from '../policy-fixtures.ts';

/** A list, and the rules it is asked under by user u7 of the sports department. */
export interface PlanCase {
  readonly name: string;
  readonly rules: readonly SomeRule[];
  readonly sort?: readonly SortKey[];
  /** What the caller filters by: field → value. */
  readonly where?: Readonly<Record<string, Json>>;
  /** From 1, which it is where absent. */
  readonly page?: number;
  readonly total?: true;
}

/** What came of it. */
export interface Explained {
  readonly rules: readonly string[];
  /** What has to be true of a record, as it is left once the user is known. */
  readonly reduced: string;
  readonly statements: readonly ExplainedStatement[];
  readonly records: readonly StoredRecord[];
  /** As text, for a file. */
  readonly text: string;
}

/** A statement with its plan, a line for each of SQLite's steps. */
export interface ExplainedStatement extends Statement {
  readonly plan: readonly string[];
}

/** The tables, filled. */
export interface PlanTables {
  explain(asked: PlanCase): Promise<Explained>;
  close(): Promise<void>;
}

/** A number of which SQLite would read another from the digits that JavaScript writes. */
export const WEIGHT: number = 2 ** 60;

const PAGE = 10;
const USERS = 20;
const ARTICLES = 400;

/** Makes the tables of a small newsroom and fills them. */
export async function createPlanTables(): Promise<PlanTables> {
  const database = openSqlite({ path: ':memory:' });
  await migrate(database, definitions);
  await fill(database);
  return { explain: (asked) => database.transaction((tx) => explain(tx, asked)), close: () => database.close() };
}

const definitions: Definitions = define(
  { name: 'User', fields: { department: { type: 'string', index: true } } },
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
      await insertRecord(tx, resourceOf('User', definitions), { ...always(`u${n}`), email: `u${n}@example.com`, role: 'user', department });
    }
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

async function explain(tx: Transaction, asked: PlanCase): Promise<Explained> {
  const policies = [policyOf('p', asked.rules)];
  const state = stateOf({ policies, userPolicies: [toUser('u7', 'p')] });
  const asking = { grants: grantsIn(state, who.userId), role: who.role };
  const applicable = applicableRules(compilePolicies(state, definitions, LIMITS), {
    ...asking,
    resource: 'Article',
    action: 'list',
    now: NOW,
  });
  const filter = Object.entries(asked.where ?? {}).map(([field, value]) => ({ field, operator: 'eq', value }));
  const where = all([allowedWhere(decide(applicable, createScope(parts), who)), resolveWhere(article, filter, { typed: true })]);
  const list = (transaction: Transaction, after?: CursorPosition) =>
    listRecords(transaction, article, {
      where,
      scopeFor: (record: StoredRecord, referred: ReferencedRecords): Scope => createScope({ ...parts, record, referred }),
      definitions,
      sort: resolveSort(article, asked.sort ?? []),
      limit: PAGE,
      after,
      total: asked.total,
      scanLimit: 1000,
      now: NOW,
      timeZone: 'UTC',
    });
  let after: CursorPosition | undefined;
  for (let page = 1; page < (asked.page ?? 1); page++) {
    after = (await list(tx, after)).next;
    if (after === undefined) throw new Error(`there is no page ${page + 1}`);
  }
  const sent: Statement[] = [];
  const { records } = await list(listening(tx, sent), after);
  const statements: ExplainedStatement[] = [];
  for (const statement of sent) statements.push({ ...statement, plan: await planOf(tx, statement) });
  const rules = applicable.rules.map((rule) => `${rule.effect} ${rule.priority} where ${printCondition(rule.condition)}`);
  const explained = { rules, reduced: printCondition(where), statements, records };
  return { ...explained, text: toText(asked.name, explained) };
}

function allowedWhere(decision: Decision): Condition {
  if (decision.effect === 'deny') throw new Error(decision.reason);
  return decision.effect === 'allow' ? ALWAYS : decision.where;
}

/** The same transaction; what is asked of it is kept, in the words that the database gets. */
function listening(tx: Transaction, sent: Statement[]): Transaction {
  const heard = <Query extends Parameters<Transaction['all']>[0]>(query: Query): Query => {
    const { sql: text, parameters } = 'parameters' in query ? query : renderSql(query, tx.dialect.placeholder);
    sent.push({ sql: text, parameters });
    return query;
  };
  return { ...tx, all: (query) => tx.all(heard(query)), one: (query) => tx.one(heard(query)) };
}

/** SQLite's own words, each step indented below the one it is a part of. */
async function planOf(tx: Transaction, statement: Statement): Promise<readonly string[]> {
  const steps = await tx.all<{ id: number; parent: number; detail: string }>({ ...statement, sql: `EXPLAIN QUERY PLAN ${statement.sql}` });
  const depths = new Map<number, number>([[0, 0]]);
  return steps.map(({ id, parent, detail }) => {
    const depth = depths.get(parent) ?? 0;
    depths.set(id, depth + 1);
    return `${'  '.repeat(depth)}${detail}`;
  });
}

function toText(name: string, { rules, reduced, statements, records }: Omit<Explained, 'text'>): string {
  const told = statements.flatMap(({ sql: text, parameters, plan }) => [
    `sql      ${text.replace(/^SELECT "Article"\."id", .*? FROM/, 'SELECT … FROM')}`,
    `values   ${JSON.stringify(parameters)}`,
    ...plan.map((line, index) => `${index === 0 ? 'plan' : '    '}     ${line}`),
  ]);
  const lines = [
    ...rules.map((rule, index) => `${index === 0 ? 'rules' : '     '}    ${rule}`),
    `reduced  ${reduced}`,
    ...told,
    `records  ${records.length}`,
  ];
  return `## ${name}\n\n${lines.join('\n')}\n`;
}
