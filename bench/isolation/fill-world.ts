import { createUser, expectDone, idOf, logIn, send, setUp } from '../../test/process/program.ts';
import { numbersTo, openFilling } from '../fill.ts';
import { fillEntries } from '../fill-entries.ts';
import { startService } from '../service.ts';

/** The tokens of the callers of a measurement, and the policy that an admin changes. */
export interface Callers {
  readonly admin: string;
  /** May list all records; the policy has no condition. */
  readonly user: string;
  /** May list and export the records whose title matches a pattern. Patterns are evaluated in memory. */
  readonly editor: string;
  /** One of the many policies of the role `user`. */
  readonly policy: string;
  /** Id of an article. */
  readonly article: string;
}

/** Sizes of the filled database. */
export interface WorldSize {
  readonly articles: number;
  readonly policies: number;
  readonly entries: number;
}

const PROJECT = new URL('project', import.meta.url).pathname;
const NOTES = 60_000;
const REPORTS = 200;
const AT = '2026-01-01T00:00:00.000Z';
/** Characters of a large record: with JSON around them, just below 100 kB. */
const REPORT_LENGTH = 99_000;
/** Characters of the record with a mixed text. */
const MIXED_LENGTH = 32_000;
const POLICIES_PER_IMPORT = 1000;

/** Starts the service of a measurement. */
export function startWorld(folder: string, database: string): ReturnType<typeof startService> {
  return startService(folder, database, { project: PROJECT });
}

/** Fills a database with callers, policies and records. */
export async function fillWorld(folder: string, database: string, { articles, policies, entries }: WorldSize): Promise<Callers> {
  const program = await startWorld(folder, database);
  const { url } = program;
  const admin = await setUp(url);
  for (const role of ['user', 'editor']) await createUser(url, admin, { email: `${role}@example.com`, role });
  const lists = { name: 'list all', type: 'ROLE_BASED', rules: ['list', 'read'].map((action) => ({ resource: '*', action })) };
  await assign(url, admin, { body: lists, role: 'user' });
  const pattern = { field: 'resource.title', operator: 'matches', value: '7{3}' };
  const matching = {
    name: 'by pattern',
    type: 'ATTRIBUTE_BASED',
    rules: ['list', 'export'].map((action) => ({ resource: '*', action, conditions: [pattern] })),
  };
  await assign(url, admin, { body: matching, role: 'editor' });
  const policy = await fillRolePolicies(url, admin, policies);
  const [user, editor] = [await logIn(url, 'user@example.com'), await logIn(url, 'editor@example.com')];
  await program.stop();
  await fillRecords(database, articles);
  await fillEntries(database, { count: entries, seconds: secondsOfToday() });
  await settle(database);
  return { admin, user, editor, policy, article: 'a1' };
}

/**
 * Performs the work that a server would do within the next minutes: reading new rows, vacuuming them and writing them to the disk would delay
 * the measured requests.
 */
async function settle(database: string): Promise<void> {
  const filling = await openFilling(database);
  if (filling.isServer) for (const statement of ['VACUUM (ANALYZE)', 'CHECKPOINT']) await filling.exec(statement);
  await filling.close();
}

/** Returns the seconds since midnight in UTC: on PostgreSQL, the audit log has partitions only from the day of its first start on. */
function secondsOfToday(): number {
  return Math.floor((Date.now() % 86_400_000) / 1000);
}

interface Assigned {
  readonly body: object;
  readonly role: string;
}

async function assign(url: string, admin: string, { body, role }: Assigned): Promise<string> {
  const policy = idOf(await expectDone(send(url, 'POST /admin/api/policies', { token: admin, body })));
  await expectDone(send(url, `POST /admin/api/policies/${policy}/assign/role/${role}`, { token: admin, body: {} }));
  return policy;
}

/** Creates policies and assigns all of them to the role `user`. They decide only on updates, so that reads cost the same. Returns the id of one of them. */
async function fillRolePolicies(url: string, admin: string, count: number): Promise<string> {
  const condition = (nth: number) => ({ field: 'resource.title', operator: 'eq', value: `Title ${nth}` });
  for (let from = 0; from < count; from += POLICIES_PER_IMPORT) {
    const policies = Array.from({ length: Math.min(POLICIES_PER_IMPORT, count - from) }, (_, index) => ({
      name: `update ${from + index}`,
      type: 'ATTRIBUTE_BASED',
      rules: [{ resource: 'Article', action: 'update', conditions: [condition(from + index)] }],
      roles: [{ role: 'user' }],
    }));
    await expectDone(send(url, 'POST /admin/api/policies/import', { token: admin, body: { policies } }));
  }
  const body = {
    name: 'update, changed',
    type: 'ATTRIBUTE_BASED',
    rules: [{ resource: 'Article', action: 'update', conditions: [condition(0)] }],
  };
  return assign(url, admin, { body, role: 'user' });
}

async function fillRecords(database: string, articles: number): Promise<void> {
  const filling = await openFilling(database);
  const common = `"id", "version", "createdAt", "updatedAt", "createdBy"`;
  const values = (letter: string): string => `'${letter}' || i, 1, '${AT}', '${AT}', 'bench'`;
  const text = filling.isServer ? `repeat('a', ${REPORT_LENGTH})` : `replace(hex(zeroblob(${REPORT_LENGTH / 2})), '0', 'a')`;
  await filling.exec(`INSERT INTO "Article" (${common}, "title", "rank")
    ${numbersTo(articles)} SELECT ${values('a')}, 'Title ' || i, (CAST(i AS BIGINT) * 7919) % 1000003 FROM n`);
  await filling.exec(`INSERT INTO "Note" (${common}, "title") ${numbersTo(NOTES)} SELECT ${values('n')}, 'Title ' || i FROM n`);
  await filling.exec(`INSERT INTO "Report" (${common}, "body") ${numbersTo(REPORTS)} SELECT ${values('r')}, ${text} FROM n`);
  await filling.exec(`INSERT INTO "Report" (${common}, "body") VALUES ('mixed', 1, '${AT}', '${AT}', 'bench', '${mixedText()}')`);
  await filling.close();
}

/** Returns a text of `a` and `b` without a period: a pattern that counts characters has another state at each position. */
function mixedText(): string {
  let state = 1;
  return Array.from({ length: MIXED_LENGTH }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 2 === 0 ? 'a' : 'b';
  }).join('');
}
