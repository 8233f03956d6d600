import { SYSTEM } from '../src/resources/system/index.ts';
import { loadOtherDefinitions, openDatabase } from '../src/storage/index.ts';
import { sealAll } from '../src/storage/policies/seal.fixture.ts';
import { type Filling, numbersTo } from './fill.ts';

/** Number of users and policies, and their rules. */
export interface PolicyFill {
  /** Number of users: `u1`, `u2` and so on, with the role `user`. */
  readonly users: number;
  /** Number of policies: `p1`, `p2` and so on. */
  readonly policies: number;
  /** Rules of each policy, and policies of each user. */
  readonly each: number;
  /** Action of all rules; their resource is Article. */
  readonly action: string;
  /** SQL expression over `n(i)` for the only condition of rule `i`, as JSON. */
  readonly condition: string;
}

const AT = '2026-01-01T00:00:00.000Z';

/** Inserts users, policies, assignments, and their versions in the policy history. */
export async function fillPolicies(filling: Filling, { users, policies, each, action, condition }: PolicyFill): Promise<void> {
  const json = (text: string): string => (filling.isServer ? `(${text})::json` : text);
  const ownsVersions = (await filling.columns('_PolicyHistory')).includes('userId');
  const isVersioned = (await filling.columns('_Policy')).includes('version');
  const [versionColumn, version] = isVersioned ? [', "version"', ', 1'] : ['', ''];
  const policyOf = (nth: number): string => `'p' || ((CAST(n.i AS BIGINT) * 7919 + ${nth} * 4337) % ${policies} + 1)`;
  const nths = Array.from({ length: each }, (_, index) => index + 1);
  const rules = nths.map(
    (
      nth,
    ) => `INSERT INTO "_PolicyRule" ("id", "policyId", "position", "resource", "action", "effect", "conditions", "priority", "isActive", "createdAt")
      ${numbersTo(policies)} SELECT 'r' || i || '.${nth}', 'p' || i, ${nth}, 'Article', '${action}', 'ALLOW', ${json(`'[' || ${condition} || ']'`)}, ${nth}, TRUE, '${AT}' FROM n`,
  );
  const assigned = nths.flatMap((nth) => [
    `INSERT INTO "_UserPolicy" ("id", "userId", "policyId", "assignedBy", "assignedAt", "isActive", "context"${versionColumn})
      ${numbersTo(users)} SELECT 'a' || i || '.${nth}', 'u' || i, ${policyOf(nth)}, 'bench', '${AT}', TRUE, ${json("'{}'")}${version} FROM n`,
    `INSERT INTO "_PolicyHistory" ("id", "kind", "subjectId", ${ownsVersions ? '"userId", ' : ''}"fromEpoch", "value", "changedBy", "changedAt")
      ${numbersTo(users)} SELECT 'h' || i || '.${nth}', 'userPolicy', 'a' || i || '.${nth}', ${ownsVersions ? "'u' || i, " : ''}1,
      ${json(`'{"id":"a' || i || '.${nth}","userId":"u' || i || '","policyId":"' || ${policyOf(nth)} || '","assignedBy":"bench","assignedAt":"${AT}","isActive":true,"context":{}}'`)}, 'bench', '${AT}' FROM n`,
  ]);
  const statements = [
    `INSERT INTO "User" ("id", "version", "createdAt", "updatedAt", "name", "email", "password", "role", "isActive")
      ${numbersTo(users)} SELECT 'u' || i, 1, '${AT}', '${AT}', 'User ' || i, 'u' || i || '@example.com', 'none', 'user', TRUE FROM n`,
    `INSERT INTO "_Policy" ("id", "name", "type", "isActive", "priority", "createdBy", "tags", "createdAt", "updatedAt"${versionColumn})
      ${numbersTo(policies)} SELECT 'p' || i, 'Policy ' || i, 'CUSTOM', TRUE, 100, 'bench', ${json("'[]'")}, '${AT}', '${AT}'${version} FROM n`,
    ...rules,
    ...assigned,
  ];
  for (const statement of statements) await filling.exec(statement);
  await seal(filling);
  if (filling.isServer) await filling.exec('ANALYZE');
}

/** Writes the checksums of the inserted rows, without which the service would refuse them. Earlier versions have none. */
async function seal({ database: address, columns }: Filling): Promise<void> {
  if (!(await columns('_Policy')).includes('checksum')) return;
  const database = await openDatabase({ database: address });
  try {
    await database.transaction(async (tx) => sealAll(tx, ((await loadOtherDefinitions(tx, SYSTEM)) ?? SYSTEM).get('User')), {
      unlimited: true,
    });
  } finally {
    await database.close();
  }
}

/** Inserts users `u1` and so on, each with the admin's password, one article, and a policy that allows them to read it. */
export async function fillPersons(filling: Filling, persons: number): Promise<{ toArticleId(person: number): string }> {
  const condition = `'{"field":"resource.authorId","operator":"eq","value":"\${user.id}"}'`;
  await fillPolicies(filling, { users: persons, policies: persons, each: 1, action: '*', condition });
  await filling.exec(`INSERT INTO "Article" ("id", "version", "createdAt", "updatedAt", "createdBy", "title", "slug", "status", "authorId")
    SELECT '${ID}' || substr(CAST(100000000000 + CAST(substr("id", 2) AS INTEGER) AS TEXT), 1, 12), 1, "createdAt", "updatedAt", 'bench', 'Own', "id", 'draft', "id"
    FROM "User" WHERE "password" = 'none'`);
  // Hashing thousands of passwords would take minutes.
  await filling.exec(`UPDATE "User" SET "password" = (SELECT "password" FROM "User" WHERE "role" = 'admin') WHERE "password" = 'none'`);
  return { toArticleId: (person) => `${ID}${100_000_000_000 + person}` };
}

const ID = '018f4e6a-1c2b-7d3e-8f40-';
