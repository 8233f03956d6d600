/** `bailiwick decisions tail | explain | export`, beside a running service. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRun } from '../../src/cli/run.fixture.ts';
import { type RunningService, startService } from '../harness.ts';
import type { Ended } from './program.ts';
import { runCommand } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-decisions-'));
let service: RunningService;
/** The entry of a denied read. */
let denied: string;
let reader: { readonly id: string; readonly token: string; readonly email: string };
let tip: string;

beforeAll(async () => {
  service = await startService({ project: 'examples/newsroom' });
  reader = await service.user();
  tip = await service.createRecord('Tip', { subject: 'Harbour', text: 'It reopens', urgency: 'low' });
  const conditions = [{ field: 'resource.urgency', operator: 'eq', value: 'high' }];
  await service.createPolicy({
    userId: reader.id,
    name: 'Urgent',
    rules: [{ resource: 'Tip', action: 'read', description: 'urgent tips', conditions }],
  });
  denied = String((await service.call('GET', `/api/Tip/${tip}`, { token: reader.token })).headers['x-decision-id']);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.close();
});

const place = (): readonly string[] => ['--project', 'examples/newsroom', '--data', service.dataFolder, '--database', service.database];
const run = (...args: readonly string[]): Promise<Ended> => runCommand(['decisions', ...args, ...place()]);

describe('decisions explain', () => {
  it('decisions explain prints the entry, its rules and the conditions that were not true', async () => {
    const { code, out } = await run('explain', denied);
    expect(code).toBe(0);
    expect(out.split('\n')[0]).toContain(`DENY  read Tip "Harbour" by user ${reader.email}: `);
    expect(out).toContain('rule "urgent tips" of policy "Urgent": ALLOW did not fire');
    expect(out).toContain('resource.urgency eq "high": false (resource.urgency is "low")');
  });

  it('decisions explain --json prints what the admin endpoint returns', async () => {
    const { token } = await service.admin();
    const { body } = await service.call('GET', `/admin/api/decisions/${denied}`, { token });
    expect(JSON.parse((await run('explain', denied, '--json')).out)).toEqual((body as { readonly data: unknown }).data);
  });

  it('decisions explain fails for an unknown id', async () => {
    expect(await run('explain', 'none')).toMatchObject({ code: 1, err: 'bailiwick: no decision has this id\n' });
  });
});

describe('decisions export', () => {
  it('decisions export writes the entries that match, the oldest first', async () => {
    const file = join(folder, 'denied.ndjson');
    expect(await run('export', file, '--denied', '--user-id', reader.id)).toMatchObject({ code: 0, err: '' });
    const exported = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(exported[0]).toMatchObject({ id: denied, allowed: false, facts: { 'resource.urgency': 'low' } });
    expect(exported.every(({ userId, allowed }) => userId === reader.id && !allowed)).toBe(true);
    expect(await run('export', file)).toMatchObject({ code: 2, err: expect.stringContaining('--force') });
  });

  it('decisions export writes every entry of several pages once, as CSV', async () => {
    const requests = Array.from({ length: 50 }, () => ({ resource: 'Tip', action: 'read', data: { id: tip } }));
    for (let batch = 0; batch < 11; batch += 1) await service.call('POST', '/api/batch', { token: reader.token, body: { requests } });
    const file = join(folder, 'all.csv');
    expect((await run('export', file, '--user-id', reader.id, '--kind', 'access')).code).toBe(0);
    const [header, ...rows] = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(header).toMatch(/^id,at,/);
    const [ids, times] = [0, 1].map((column) => rows.map((row) => row.split(',')[column]));
    expect([new Set(ids).size >= 550, new Set(ids).size === rows.length, times]).toEqual([true, true, times?.toSorted()]);
  });

  it.each([
    [['--from', 'yesterday'], /from/],
    [['--kind', 'odd'], /kind/],
    [['--format', 'json'], /ndjson or csv/],
    [['--user-id', 'unknown@example.com'], /no user has the email "unknown@example.com"/],
    [['--resource', 'Tpi'], /no resource is named "Tpi".*did you mean "Tip"/],
    [['--policy-id', 'Urgnt'], /no policy has the name or id "Urgnt".*did you mean "Urgent"/],
  ])('decisions export refuses %j', async (flags, message) => {
    const { code, out, err } = await run('export', ...flags);
    expect([code === 0, out, err]).toEqual([false, '', expect.stringMatching(message)]);
  });
});

describe('decisions tail', () => {
  it('decisions tail --once prints the last entries, the oldest first', async () => {
    const { out } = await run('tail', '--once', '--last', '2', '--json', '--kind', 'access');
    const expected = (await service.decisions('kind=access')).slice(0, 2).toReversed();
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual(expected.map(({ id }) => id));
    expect(await run('tail', '--last', '1001')).toMatchObject({ code: 2, out: '' });
  });

  it('decisions tail takes the email of a user and the name of a policy, and names callers and records', async () => {
    const filters = ['--user-id', reader.email.toUpperCase(), '--resource', 'Tip', '--action', 'read'];
    const { out, err } = await run('tail', '--once', '--last', '1', ...filters);
    expect([out, err]).toEqual([expect.stringContaining(`DENY  read Tip "Harbour" by user ${reader.email}: `), '']);
    expect((await run('tail', '--once', '--last', '1', '--ids', ...filters)).out).toContain(`read Tip/${tip} by user ${reader.id}: `);
    const ofPolicy = await run('tail', '--once', '--policy-id', 'Urgent', '--json');
    expect(ofPolicy).toMatchObject({ code: 0, out: '', err: 'no entry matches\n' });
    const admin = (await run('tail', '--once', '--resource', 'UserPolicy', '--last', '1')).out;
    expect(admin).toMatch(/allow create UserPolicy "Urgent" by admin \S+@\S+: /);
  });

  it('decisions tail names the callers and records while the definitions have changed and the tables have not', async () => {
    const project = join(folder, 'changed');
    cpSync('examples/newsroom/resources', join(project, 'resources'), { recursive: true });
    writeFileSync(join(project, 'resources/Tip.yaml'), 'name: Tip\nfields:\n  title: { type: string }\n');
    const where = ['--project', project, '--data', service.dataFolder, '--database', service.database];
    const { code, out } = await runCommand(['decisions', 'tail', '--once', '--last', '1', '--resource', 'Tip', ...where]);
    expect([code, out]).toEqual([0, expect.stringContaining('read Tip "Harbour" by user ')]);
  });

  it('decisions tail prints each new entry once, until it is interrupted', async () => {
    const following = createRun();
    const ended = runCommand(['decisions', 'tail', '--last', '0', '--denied', '--resource', 'Tip', ...place()], '', following);
    const ids: string[] = [];
    // The first requests may precede the position at which the command begins.
    while (following.out.length < 3) {
      const { headers } = await service.call('GET', `/api/Tip/${tip}`, { token: reader.token });
      ids.push(String(headers['x-decision-id']));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    following.signals.emit('SIGINT');
    expect((await ended).code).toBe(0);
    const printed = following.out.map((line) => /\((.+)\)$/.exec(line)?.[1]);
    const first = ids.indexOf(printed[0] ?? '');
    expect(first).toBeGreaterThanOrEqual(0);
    expect(printed).toEqual(ids.slice(first, first + printed.length));
  });
});
