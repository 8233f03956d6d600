/** Exports of the audit log: the entries of each caller, formats, and the entry of the export itself. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';

const DEFINITIONS = {
  'Note.yaml': 'name: Note\nfields:\n  text: { type: text }\n',
  'Memo.yaml': 'name: Memo\nfields:\n  text: { type: text }\n',
};
/** More entries than a page of an export has. */
const ENTRIES = 300;

let service: RunningService;
let admin: TestUser;
beforeAll(async () => {
  service = await startService({ definitions: DEFINITIONS });
  admin = await service.admin();
  const reader = await service.user();
  const conditions = [{ field: 'user.email', operator: 'exists', value: true }];
  await service.createPolicy({ userId: reader.id, rules: [{ resource: 'Note', action: '*', conditions }] });
  for (let index = 0; index < ENTRIES; index++) await service.call('GET', '/api/Note', { token: reader.token });
  await service.call('GET', '/api/Memo', { token: reader.token });
});
afterAll(() => service.close());

const exported = (query: string, token = admin.token): Promise<Reply> =>
  service.call('GET', `/admin/api/decisions/export?${query}`, { token });
const toLines = (reply: Reply): readonly Readonly<Record<string, unknown>>[] =>
  reply.text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

describe('an export of the audit log', () => {
  it.each(['newest', 'oldest'])('contains every entry that a search finds, in the same order: %s', async (order) => {
    const file = await exported(`kind=access&order=${order}`);
    const found = await service.call('GET', `/admin/api/decisions?kind=access&limit=1000&order=${order}`, { token: admin.token });
    expect([file.status, file.headers['content-type'], file.headers['content-disposition']]).toEqual([
      200,
      'application/x-ndjson',
      'attachment; filename="decisions.ndjson"',
    ]);
    expect(toLines(file).length).toBeGreaterThan(ENTRIES);
    expect(toLines(file)).toEqual(found.at('data'));
  });

  it('writes a column for every member of an entry in CSV', async () => {
    const file = await exported('format=csv&kind=access&resource=Note');
    const [header, ...rows] = file.text.split('\r\n');
    expect(file.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    expect(header).toBe('id,at,userId,role,resource,action,recordId,allowed,reason,kind,ruleId,policyId,epoch,requestId,ip,outcome,facts');
    expect(rows).toHaveLength(ENTRIES + 1);
    expect(rows[0]).toContain('"{""user.email"":');
  });

  it('appends one entry with the question, which is the newest of the file', async () => {
    const [newest] = toLines(await exported('kind=admin&from=2020-01-01'));
    const question = { kind: 'admin', from: '2020-01-01' };
    expect(newest).toMatchObject({ kind: 'admin', action: 'decisions.export', userId: admin.id, facts: { question } });
    const entries = await service.decisions('kind=admin&action=decisions.export&limit=1000');
    expect(entries.filter(({ id }) => id === newest?.['id'])).toHaveLength(1);
  });

  it('sends no body to HEAD', async () => {
    const reply = await service.call('HEAD', '/admin/api/decisions/export', { token: admin.token });
    expect([reply.status, reply.text]).toEqual([200, '']);
  });

  it('refuses an unknown format', async () => {
    expect((await exported('format=xml')).body).toMatchObject({ status: 400, code: 'REQUEST_PARAMETER' });
  });
});

describe('an export by an auditor', () => {
  it('contains only the entries that the rule allows, without the values that conditions read', async () => {
    const auditor = await service.user();
    const conditions = [{ field: 'resource.resource', operator: 'eq', value: 'Note' }];
    await service.createPolicy({ userId: auditor.id, rules: [{ resource: '_Decision', action: 'export', conditions }] });
    const entries = toLines(await exported('', auditor.token));
    expect(entries).toHaveLength(ENTRIES);
    for (const entry of entries) expect([entry['resource'], entry['facts']]).toEqual(['Note', undefined]);
    const [header] = (await exported('format=csv', auditor.token)).text.split('\r\n');
    expect(header).not.toContain('facts');
    const [own] = await service.decisions(`userId=${auditor.id}&limit=1`);
    expect(own).toMatchObject({ kind: 'access', resource: '_Decision', action: 'export', facts: { question: { format: 'csv' } } });
  });

  it('needs a rule about export: a rule about read is not enough', async () => {
    const auditor = await service.user();
    await service.createPolicy({ userId: auditor.id, rules: [{ resource: '_Decision', action: 'read' }] });
    expect((await exported('', auditor.token)).body).toMatchObject({ status: 403, code: 'ACCESS_ADMIN' });
  });
});
