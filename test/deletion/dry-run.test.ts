/** Dry runs of deletions: they return what the deletion would do, change nothing, and show no records that the caller may not read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, type Reply, type RunningService, startService, type TestUser } from '../harness.ts';

const definitions = {
  'Team.yaml': 'name: Team\nsoftDelete: true\nfields:\n  name: { type: string }\n',
  'Member.yaml': 'name: Member\nsoftDelete: true\nfields:\n  teamId: { type: reference, to: Team, onDelete: cascade }\n',
  'Badge.yaml': 'name: Badge\nfields:\n  memberId: { type: reference, to: Member, onDelete: cascade }\n',
  'Task.yaml': `name: Task
fields:
  title:   { type: string }
  teamId:  { type: reference, to: Team, onDelete: setNull }
  teamIds: { type: list, of: { type: reference, to: Team, onDelete: setNull } }
  badgeId: { type: reference, to: Badge, onDelete: restrict }
  knowsId: { type: reference, to: Badge, onDelete: restrict, writeOnly: true }
`,
  'User.yaml': 'name: User\nfields:\n  teamId: { type: reference, to: Team, onDelete: setNull }\n',
};

/** Small, so that tests reach it. */
const CASCADE_MAX = 12;

let service: RunningService;
let strict: RunningService;
let admin: TestUser;
beforeAll(async () => {
  [service, strict] = [
    await startService({ definitions, settings: { cascadeMax: CASCADE_MAX } }),
    await startService({ definitions: { 'Team.yaml': definitions['Team.yaml'] }, settings: { ifMatch: 'required' } }),
  ];
  admin = await service.admin();
});
afterAll(async () => {
  await service.close();
  await strict.close();
});

const dryRun = (path: string, options: CallOptions = { token: admin.token }): Promise<Reply> =>
  service.call('DELETE', `${path}?dryRun=true`, options);
const record = (resource: string, values: Record<string, unknown> = {}): Promise<string> => service.createRecord(resource, values);
const statusOf = async (path: string): Promise<number> => (await service.call('GET', path, { token: admin.token })).status;
const ids = (group: readonly string[]): unknown => expect.arrayContaining([...group]);

/** Returns the problem that the dry run is expected to name if the deletion is refused with a response. */
function problemOf({ body }: Reply, preview: Reply): object {
  const { decisionId: _, ...problem } = body as Record<string, unknown>;
  return { ...problem, requestId: preview.headers['x-request-id'] };
}

describe('a dry run of a deletion', () => {
  it('returns the records that would be deleted and cleared, by field, and deletes nothing', async () => {
    const teamId = await record('Team');
    const members = [await record('Member', { teamId }), await record('Member', { teamId })];
    const badge = await record('Badge', { memberId: members[0] });
    const tasks = [await record('Task', { teamId }), await record('Task', { teamIds: [teamId] })];
    const reply = await dryRun(`/api/Team/${teamId}`);
    expect(reply.body).toEqual({
      success: true,
      data: {
        id: teamId,
        dryRun: true,
        permanent: false,
        deleted: [
          { resource: 'Member', field: 'teamId', count: 2, ids: ids(members), permanent: false },
          { resource: 'Badge', field: 'memberId', count: 1, ids: [badge], permanent: true },
        ],
        cleared: [
          { resource: 'Task', field: 'teamId', count: 1, ids: [tasks[0]] },
          { resource: 'Task', field: 'teamIds', count: 1, ids: [tasks[1]] },
        ],
        refused: [],
      },
      message: 'a dry run, nothing was deleted; the deletion would succeed',
    });
    for (const path of [`Team/${teamId}`, `Member/${members[0]}`, `Badge/${badge}`]) expect(await statusOf(`/api/${path}`)).toBe(200);
    expect((await service.call('GET', `/api/Task/${tasks[0]}`, { token: admin.token })).at('data')).toMatchObject({ teamId, version: 1 });
  });

  it('returns every reference that refuses the deletion, and the problem with which it fails', async () => {
    const memberId = await record('Member');
    const badge = await record('Badge', { memberId });
    const tasks = [await record('Task', { badgeId: badge }), await record('Task', { badgeId: badge })];
    const { token } = admin;
    const reply = await dryRun(`/api/Member/${memberId}`);
    const refused = await service.call('DELETE', `/api/Member/${memberId}`, { token });
    expect(reply.at('data.refused')).toEqual([
      { resource: 'Task', field: 'badgeId', count: 2, ids: ids(tasks), code: 'RECORD_REFERENCED' },
    ]);
    expect(reply.at('data.problem')).toEqual(problemOf(refused, reply));
    expect(reply.at('message')).toContain('the deletion would fail: Task.badgeId refers to');
  });

  it('appends an entry of each decision, with the outcome DRY_RUN and the fact dryRun', async () => {
    const teamId = await record('Team');
    const memberId = await record('Member', { teamId });
    const reply = await dryRun(`/api/Team/${teamId}`);
    const entries = (await service.decisions('action=delete&limit=2')).toReversed();
    const expected = { action: 'delete', allowed: true, outcome: 'DRY_RUN', requestId: reply.headers['x-request-id'] };
    expect(entries).toMatchObject([
      { ...expected, recordId: teamId },
      { ...expected, recordId: memberId },
    ]);
    const entry = await service.call('GET', `/admin/api/decisions/${reply.headers['x-decision-id']}`, { token: admin.token });
    expect(entry.at('data.facts')).toMatchObject({ dryRun: true });
  });

  it('reports the refusal of the deletion above the limit of a cascade', async () => {
    const teamId = await record('Team');
    for (let n = 0; n <= CASCADE_MAX; n++) await record('Member', { teamId });
    const reply = await dryRun(`/api/Team/${teamId}`);
    const refused = await service.call('DELETE', `/api/Team/${teamId}`, { token: admin.token });
    expect([reply.at('data.problem.code'), reply.at('data.problem.detail')]).toEqual(['RECORD_REFERENCED', refused.at('detail')]);
  });

  it('does not end the sessions of a user, and is refused for the last active admin', async () => {
    const user = await service.user();
    expect((await dryRun(`/api/User/${user.id}`)).at('data')).toMatchObject({ permanent: true, refused: [] });
    expect((await service.call('GET', '/auth/me', { token: user.token })).status).toBe(200);
    expect((await dryRun(`/api/User/${admin.id}`)).at('data.problem')).toMatchObject({ status: 409, code: 'IDENTITY_LAST_ADMIN' });
  });

  it('takes If-Match into account', async () => {
    const { token } = await strict.admin();
    const path = `/api/Team/${await strict.createRecord('Team', {})}?dryRun=true`;
    const call = async (headers: Record<string, string>): Promise<number> => (await strict.call('DELETE', path, { token, headers })).status;
    expect([await call({}), await call({ 'if-match': '"9"' }), await call({ 'if-match': '"1"' })]).toEqual([428, 412, 200]);
  });

  it('runs as an action and in a batch, where a later request changes the same record', async () => {
    const id = await record('Team');
    const { token } = admin;
    const action = await service.call('POST', '/api/Team/delete', { token, body: { id, dryRun: true } });
    expect(action.at('data')).toMatchObject({ id, dryRun: true });
    const requests = [
      { resource: 'Team', action: 'delete', data: { id, dryRun: true } },
      { resource: 'Member', action: 'create', data: { teamId: id } },
      { resource: 'Team', action: 'delete', id, dryRun: true },
      { resource: 'Team', action: 'delete', data: { id } },
    ];
    const batch = await service.call('POST', '/api/batch', { token, body: { requests, atomic: true } });
    expect([batch.at('data.0.data.deleted'), batch.at('data.2.data.deleted.0.count')]).toEqual([[], 1]);
    expect([batch.at('data.3.status'), await statusOf(`/api/Team/${id}`)]).toEqual([200, 404]);
  });

  it.each(['yes', '1', ''])('refuses the parameter dryRun=%s with 400', async (value) => {
    const reply = await service.call('DELETE', `/api/Team/${await record('Team')}?dryRun=${value}`, { token: admin.token });
    expect([reply.status, reply.at('code')]).toEqual([400, 'REQUEST_PARAMETER']);
  });
});

describe('a dry run by a caller who may not read all affected records', () => {
  let user: TestUser;
  beforeAll(async () => {
    user = await service.user();
    const visible = [{ field: 'resource.title', operator: 'eq', value: 'visible' }];
    const rules = [
      ...['Team', 'Member', 'Badge'].map((resource) => ({ resource, action: 'delete' })),
      { resource: 'Member', action: 'read' },
      { resource: 'Task', action: 'read', conditions: visible },
    ];
    await service.createPolicy({ userId: user.id, rules });
  });

  it('counts and names only records that the caller may read', async () => {
    const teamId = await record('Team');
    const memberId = await record('Member', { teamId });
    await record('Badge', { memberId });
    const task = await record('Task', { title: 'visible', teamId });
    for (const title of ['hidden', 'secret']) await record('Task', { title, teamId, teamIds: [teamId] });
    const reply = await dryRun(`/api/Team/${teamId}`, { token: user.token });
    expect(reply.at('data')).toEqual({
      id: teamId,
      dryRun: true,
      permanent: false,
      deleted: [{ resource: 'Member', field: 'teamId', count: 1, ids: [memberId], permanent: false }],
      cleared: [{ resource: 'Task', field: 'teamId', count: 1, ids: [task] }],
      refused: [],
    });
  });

  it('shows of a hidden record that refuses the deletion what the response of the deletion shows', async () => {
    const badge = await record('Badge');
    await record('Task', { title: 'hidden', badgeId: badge });
    const { token } = user;
    const reply = await dryRun(`/api/Badge/${badge}`, { token });
    const refused = await service.call('DELETE', `/api/Badge/${badge}`, { token });
    expect(refused.status).toBe(409);
    expect(reply.at('data.refused')).toEqual([]);
    expect(reply.at('data.problem')).toEqual(problemOf(refused, reply));
  });

  it('does not show which records refer to the deleted one by a write-only field', async () => {
    const badge = await record('Badge');
    await record('Task', { title: 'visible', knowsId: badge });
    for (const { token } of [user, admin]) {
      const reply = await dryRun(`/api/Badge/${badge}`, { token });
      expect([reply.at('data.refused'), reply.at('data.problem.code')]).toEqual([[], 'RECORD_REFERENCED']);
      expect(reply.text).not.toContain('knowsId');
    }
  });

  it('names the visible records whose deletion is denied, with the reason', async () => {
    const other = await service.user();
    await service.createPolicy({
      userId: other.id,
      rules: [
        { resource: 'Team', action: 'delete' },
        { resource: 'Member', action: 'read' },
      ],
    });
    const teamId = await record('Team');
    const members = [await record('Member', { teamId }), await record('Member', { teamId })];
    const reply = await dryRun(`/api/Team/${teamId}`, { token: other.token });
    const refused = await service.call('DELETE', `/api/Team/${teamId}`, { token: other.token });
    const code = 'ACCESS_DENIED';
    expect(reply.at('data.refused')).toEqual([
      { resource: 'Member', field: 'teamId', count: 2, ids: ids(members), code, reason: refused.at('detail') },
    ]);
    expect(reply.at('data.problem')).toEqual(problemOf(refused, reply));
    expect(reply.status).toBe(200);
  });

  it('answers alike for an unknown record and a record that the caller may not delete', async () => {
    const without = (reply: Reply): object => ({ ...(reply.body as object), requestId: '', decisionId: '' });
    const hidden = await dryRun(`/api/Task/${await record('Task')}`, { token: user.token });
    const unknown = await dryRun('/api/Task/01890a5d-ac96-774b-bcce-b302099a8057', { token: user.token });
    expect([hidden.status, without(hidden)]).toEqual([403, without(unknown)]);
  });
});
