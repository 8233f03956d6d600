/** Requests that arrive while another process renames a field of a resource or of users. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Config, parseConfig } from '../../src/config/config.ts';
import { openTables } from '../../src/project/index.ts';
import { type RunningService, startService } from '../harness.ts';
import { createDatabaseUrl } from './test-database.ts';

const toYaml = (name: string, field: string): string => `name: ${name}\nfields:\n  ${field}\n`;
const BEFORE = { 'Note.yaml': toYaml('Note', 'title: { type: string }'), 'User.yaml': toYaml('User', 'nick: { type: string }') };

/** Renames the field as `bailiwick storage apply` does in another process. */
async function renameInOtherProcess(
  { dataFolder }: RunningService,
  given: Partial<Config>,
  [name, text]: readonly [string, string],
): Promise<void> {
  const project = join(dataFolder, '..', 'project');
  writeFileSync(join(project, 'resources', `${name}.yaml`), text);
  const settings = { ...parseConfig({ flags: {}, env: {} }), ...given, project, jwtSecret: undefined };
  const tables = await openTables(settings, { log: () => undefined });
  expect((await tables.apply({})).plan.held).toEqual([]);
  await tables.close();
}

describe.each([
  ['with prepared statements', 'on'],
  ['without prepared statements', 'off'],
] as const)('a database client %s', (how, databasePrepare) => {
  it.each([
    ['the resource', 'Note', 'heading: { type: string, renamedFrom: title }'],
    ['the caller', 'User', 'name2: { type: string, renamedFrom: nick }'],
  ])(`every request succeeds after a field of %s is renamed, ${how}`, async (_what, name, field) => {
    const given: Partial<Config> = {
      database: createDatabaseUrl(`renamed_${name.toLowerCase()}_${databasePrepare}`),
      jwtSecret: 'one secret for all the replicas of a test',
      rateLimit: 0,
      databasePrepare,
    };
    const service = await startService({ definitions: BEFORE, settings: given });
    const { token } = await service.admin();
    const id = await service.createRecord('Note', {});
    const ask = async (method: string, path: string, body?: object) => (await service.call(method, path, { token, body })).status;
    expect(await ask('GET', `/api/Note/${id}`)).toBe(200);
    await renameInOtherProcess(service, given, [name, toYaml(name, field)]);
    const answers = [
      await ask('GET', `/api/Note/${id}`),
      await ask('GET', '/api/Note'),
      await ask('POST', '/api/Note', {}),
      await ask('GET', `/api/Note/${id}`),
    ];
    await service.close();
    expect(answers).toEqual([200, 200, 201, 200]);
  });
});
