import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SetupError } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import { type Definitions, parseDefinition } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import { define, openTestDatabase, resourceOf, type TestDatabase } from '../storage.fixture.ts';
import { migrate, planMigration } from './migrate.ts';
import { dialectOf } from './migration-dialects.ts';

const CURRENT = define({ Article: { fields: { title: { type: 'string' } } } });
const LATER_FIELD = { startsAt: { type: 'timestamp' } };

/** Returns the current definitions with a system definition as a newer version has it. */
function withSystem(name: string, source: JsonObject): Definitions {
  const { resource } = parseDefinition({ name, ...source }, { builtIn: true });
  if (resource === undefined) throw new Error(`the definition of ${name} is invalid`);
  return new Map([...CURRENT, [name, resource]]);
}

function withFields(name: string, fields: JsonObject): Definitions {
  const { source } = resourceOf(CURRENT, name);
  return withSystem(name, { ...source, fields: { ...(source['fields'] as JsonObject), ...fields } });
}

let test: TestDatabase;
beforeEach(() => {
  test = openTestDatabase();
});
afterEach(() => test.dispose());

describe('migrate', () => {
  it.for([
    ['field', withFields('_UserPolicy', LATER_FIELD), 'this program does not know the field _UserPolicy.startsAt'],
    ['table', withSystem('_Later', { fields: LATER_FIELD }), 'this program does not know the table _Later'],
    [
      'value',
      withFields('_Decision', { kind: { type: 'enum', values: ['access', 'later'] } }),
      'this program does not know the value "later" of _Decision.kind',
    ],
  ] as const)('refuses a database of a newer version, as a plan does, and changes nothing: an unknown %s', async ([, newer, detail]) => {
    await migrate(test.database, newer);
    const before = await tables();
    for (const run of [migrate, planMigration]) {
      const refused = await run(test.database, CURRENT).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(SetupError);
      expect(refused).toMatchObject({ mistakes: expect.arrayContaining([detail]) });
    }
    expect(await tables()).toEqual(before);
  });

  it('refuses a database with a system definition that it cannot parse', async () => {
    await migrate(test.database, CURRENT);
    const source = JSON.stringify({ name: '_UserPolicy', fields: { value: { type: 'later' } } });
    await test.database.transaction((tx) => tx.run(sql`UPDATE "_Definition" SET "source" = ${source} WHERE "id" = '_UserPolicy'`));
    await expect(planMigration(test.database, CURRENT)).rejects.toMatchObject({
      mistakes: expect.arrayContaining(['this program cannot parse the definition of _UserPolicy']),
    });
  });

  it('migrates a database whose unknown table an earlier version has archived', async () => {
    await migrate(test.database, withSystem('_Later', { fields: LATER_FIELD }));
    await test.database.transaction((tx) => tx.run(sql`UPDATE "_Definition" SET "keptAside" = ${true} WHERE "id" = '_Later'`));
    await migrate(test.database, CURRENT);
    await expect(planMigration(test.database, CURRENT)).resolves.toMatchObject({ held: [] });
  });
});

const tables = () => test.database.transaction((tx) => dialectOf(tx).introspect(tx));
