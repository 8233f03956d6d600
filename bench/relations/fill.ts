import { createUser, expectDone, idOf, logIn, send, setUp } from '../../test/process/program.ts';
import { numbersTo, openFilling } from '../fill.ts';
import type { Call } from '../load.ts';
import { isMember, isOwn } from './conditions.ts';

/** Documents of the list. */
const DOCUMENTS = 100_000;
/** Documents that each caller may list. */
export const VISIBLE = 200;
/** Documents of each organisation. */
const PER_ORGANISATION = 10;
const ORGANISATIONS = DOCUMENTS / PER_ORGANISATION;
/** Every organisation with a multiple of this number is one of a caller's. */
const STEP = ORGANISATIONS / (VISIBLE / PER_ORGANISATION);

/** The callers: the condition of their only policy, and how many of their documents they own; they reach the others as members. */
const CALLERS = [
  { name: 'own records', conditions: [isOwn], owned: VISIBLE },
  { name: 'as a member', conditions: [isMember], owned: 0 },
  { name: 'own, or as a member', conditions: [{ anyOf: [isOwn, isMember] }], owned: VISIBLE / 2 },
];

/** A caller, and its request. */
export interface Listing {
  readonly name: string;
  readonly call: Call;
}

/** Creates the callers with their policies; returns their requests and the SQL that fills the tables. */
export async function prepareCallers(
  url: string,
): Promise<{ readonly listings: readonly Listing[]; fill(database: string, memberships: number): Promise<void> }> {
  const admin = await setUp(url);
  const callers: (Listing & { readonly id: string; readonly owned: number })[] = [];
  for (const [index, { name, conditions, owned }] of CALLERS.entries()) {
    const email = `caller-${index}@example.com`;
    const id = await createUser(url, admin, { email, role: 'user' });
    const body = { name, type: 'ATTRIBUTE_BASED', rules: [{ resource: 'Document', action: 'list', conditions }] };
    const policy = idOf(await expectDone(send(url, 'POST /admin/api/policies', { token: admin, body })));
    await expectDone(send(url, `POST /admin/api/policies/${policy}/assign/user/${id}`, { token: admin, body: {} }));
    const headers = { authorization: `Bearer ${await logIn(url, email)}` };
    callers.push({ name, id, owned, call: { headers, toRequest: () => ({ method: 'GET', path: '/api/Document?limit=20' }) } });
  }
  return { listings: callers, fill: (database, memberships) => fill(database, memberships, callers) };
}

const COLUMNS = '"id", "version", "createdAt", "updatedAt", "createdBy"';
const AUTOMATIC = `1, '2025-01-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z', 'bench'`;

async function fill(
  database: string,
  memberships: number,
  callers: readonly { readonly id: string; readonly owned: number }[],
): Promise<void> {
  const filling = await openFilling(database);
  const owner = callers
    .map(({ id, owned }, index) => (owned === 0 ? '' : `WHEN i % ${DOCUMENTS / owned} = ${index + 1} THEN '${id}' `))
    .join('');
  await filling.exec(`INSERT INTO "Document" (${COLUMNS}, "title", "body", "ownerId", "organisationId") ${numbersTo(DOCUMENTS)}
    SELECT 'd' || (1000000 + i), ${AUTOMATIC}, 'Document ' || i, '${'What happened, and where. '.repeat(8)}', CASE ${owner}ELSE 'u' || (i % 997) END,
      'o' || (i % ${ORGANISATIONS}) FROM n`);
  await filling.exec(`INSERT INTO "Membership" (${COLUMNS}, "userId", "organisationId", "level") ${numbersTo(memberships)}
    SELECT 'm' || (1000000 + i), ${AUTOMATIC}, 'u' || (i / 20), 'o' || ((i % ${ORGANISATIONS} * 7919) % ${ORGANISATIONS}), CASE i % 3 WHEN 0 THEN 'owner' WHEN 1 THEN 'editor' ELSE 'reader' END FROM n`);
  for (const [index, { id, owned }] of callers.entries()) {
    const count = (VISIBLE - owned) / PER_ORGANISATION;
    if (count === 0) continue;
    await filling.exec(`INSERT INTO "Membership" (${COLUMNS}, "userId", "organisationId", "level") ${numbersTo(count)}
      SELECT 'c${index}-' || i, ${AUTOMATIC}, '${id}', 'o' || (i * ${STEP} - ${index + 1}), 'editor' FROM n`);
  }
  // No database of a user has statistics on SQLite, because the program creates none. A server of a user does both within minutes; that of the tests runs without autovacuum.
  if (filling.isServer) await filling.exec('VACUUM ANALYZE');
  await filling.close();
}
