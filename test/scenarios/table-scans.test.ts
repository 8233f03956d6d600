/** The query plans of the statements that requests send: none reads a whole table without a deadline check. */
import BetterSqlite3 from 'better-sqlite3';
import { expect, it } from 'vitest';
import { startService } from '../harness.ts';

const NOTE = `
name: Note
softDelete: true
fields:
  title: { type: string }
  upId: { type: reference, to: Note, onDelete: cascade }
`;

/** Statements that read few rows although their plan scans a table. */
const BOUNDED: readonly string[] = ['from (select "id", "at" from "_Chain" order by "id" desc limit'];

/** Records the texts of all statements that are prepared while `work` runs. */
async function recordStatements(work: () => Promise<void>): Promise<ReadonlySet<string>> {
  const { prepare } = BetterSqlite3.prototype;
  const texts = new Set<string>();
  BetterSqlite3.prototype.prepare = function (this: BetterSqlite3.Database, text: string) {
    texts.add(text);
    return prepare.call(this, text);
  } as typeof prepare;
  try {
    await work();
  } finally {
    BetterSqlite3.prototype.prepare = prepare;
  }
  return texts;
}

/** Returns the tables that a statement reads as a whole. Results of subqueries are no tables. */
function scansOf(driver: BetterSqlite3.Database, text: string): readonly string[] {
  if (!/^\s*(select|update|delete|insert|with)\b/i.test(text) || text.includes('deadline') || BOUNDED.some((part) => text.includes(part)))
    return [];
  const values = Array.from(text.matchAll(/\?/g), () => null);
  const plan = driver.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values) as readonly { readonly detail: string }[];
  const names = plan.flatMap(({ detail }) => /^SCAN ([A-Za-z_]\w*)/.exec(detail)?.[1] ?? []);
  const isTable = (name: string): boolean =>
    name !== 'CONSTANT' && name !== 'json_each' && !new RegExp(`\\)\\s*(as\\s+)?"?${name}\\b`, 'i').test(text);
  return names.filter(isTable).map((name) => `${name}: ${text}`);
}

it('no statement of a request reads a whole table without a deadline check', async () => {
  const service = await startService({ definitions: { 'Note.yaml': NOTE } });
  const refused: string[] = [];
  const texts = await recordStatements(async () => {
    const { token } = await service.admin();
    const user = await service.user();
    const policy = await service.createPolicy({ userId: user.id, rules: [{ resource: 'Note', action: 'list' }] });
    const id = await service.createRecord('Note', { title: 'a' });
    const requests: readonly (readonly [method: string, path: string, body?: object])[] = [
      ['POST', '/api/Note/import', { data: [{ title: 'b', upId: id }] }],
      ...['/api/Note', '/api/Note?sort=title&total=true', `/api/Note/${id}`, '/auth/me', '/auth/me/sessions'].map(
        (path) => ['GET', path] as const,
      ),
      ...['policies', 'policies?summary=true&search=x', 'policies/export', 'decisions', 'decisions/verify', 'users', 'assignments'].map(
        (path) => ['GET', `/admin/api/${path}`] as const,
      ),
      ['GET', `/admin/api/users/${user.id}/policies`],
      ['GET', `/admin/api/policies/${policy}/history`],
      ['PUT', `/api/Note/${id}`, { title: 'c' }],
      ['DELETE', `/api/Note/${id}`],
      ['POST', '/api/Note/restore', { id }],
      ['DELETE', `/admin/api/policies/${policy}`],
      ['DELETE', `/api/User/${user.id}`],
    ];
    for (const [method, path, body] of requests) {
      const { status } = await service.call(method, path, { token, body });
      if (status >= 300) refused.push(`${method} ${path}: ${status}`);
    }
  });
  expect(refused).toEqual([]);
  const driver = new BetterSqlite3(service.database.slice('sqlite:'.length), { readonly: true });
  const scans = [...texts].flatMap((text) => scansOf(driver, text));
  driver.close();
  await service.close();
  expect(texts.size).toBeGreaterThan(50);
  expect(scans).toEqual([]);
});
