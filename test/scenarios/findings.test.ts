import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { FINDINGS } from '../../src/authz/linter/index.ts';
import { parseConfig } from '../../src/config/config.ts';
import { createService } from '../../src/service.ts';
import { createChain } from '../chain.ts';
import { startNewsroom } from './newsroom-service.ts';
import { checkScenarios, type Scenario, type ScenarioContext } from './scenario.ts';

// The tests of this file build on each other.
const it = createChain();

let stage: ScenarioContext;
beforeAll(async () => {
  stage = await startNewsroom();
});
afterAll(() => stage.service.close());

const READ = { resource: 'Article', action: 'read' };
const AT_NIGHT = { conditions: [{ field: 'environment.hour', operator: 'lt', value: 6 }] };

/** Returns a scenario that creates a policy and keeps its id, and those of its first two rules, under `name`. */
function creates(name: string, policy: object, others: Partial<Scenario>): Scenario {
  return {
    name: `the policy "${name}" is created with its findings`,
    as: 'admin',
    send: 'POST /admin/api/policies',
    body: { name, type: 'CUSTOM', ...policy },
    status: 201,
    keep: { [name]: 'data.id', [`${name}_0`]: 'data.rules.0.id', [`${name}_1`]: 'data.rules.1.id' },
    entries: [{ kind: 'admin', action: 'create' }],
    ...others,
  };
}

/** Returns a scenario that lists findings. */
function lists(name: string, query: string, others: Partial<Scenario>): Scenario {
  return { name, as: 'admin', send: `GET /admin/api/policies-advice?${query}`, status: 200, ...others };
}

describe('findings in the response to a written policy', () => {
  checkScenarios(
    () => stage,
    [
      creates('fine', { rules: [{ ...READ, action: 'update' }] }, { body_lacks: ['warnings'] }),
      creates(
        'idle',
        {
          rules: [
            { ...READ, description: 'readers' },
            { ...READ, effect: 'DENY', priority: 900, description: 'closed' },
          ],
        },
        {
          body_has: {
            warnings: [
              {
                code: 'never-fires',
                path: 'rules.0',
                policy: { name: 'idle' },
                rule: { description: 'readers' },
                other: { rule: { description: 'closed' } },
              },
            ],
          },
        },
      ),
      creates(
        'missing',
        { rules: [{ ...READ, effect: 'DENY', conditions: [{ field: 'user.department', operator: 'ne', value: 'politics' }] }] },
        {
          body_has: {
            warnings: [
              {
                code: 'fires-on-missing',
                path: 'rules.0.conditions',
              },
            ],
          },
        },
      ),
      creates(
        'neverSet',
        { rules: [{ ...READ, conditions: [{ field: 'user.startedOn', operator: 'lt', value: '2020-01-01' }] }] },
        { body_has: { warnings: [{ code: 'attribute-never-set', rule: {}, policy: {} }] } },
      ),
      creates(
        'pattern',
        { rules: [{ ...READ, action: 'list', conditions: [{ field: 'resource.title', operator: 'matches', value: '^A' }] }] },
        { body_has: { warnings: [{ code: 'in-memory' }] } },
      ),
      {
        name: 'a changed policy has the findings of all its rules and its assignments',
        as: 'admin',
        send: 'PUT /admin/api/policies/{idle}',
        body: { description: 'changed' },
        status: 200,
        body_has: {
          warnings: [{ code: 'never-fires', rule: { id: '{idle_0}' }, other: { rule: { id: '{idle_1}' } } }, { code: 'unassigned' }],
        },
        entries: [{ kind: 'admin', action: 'update' }],
      },
      {
        name: 'a changed policy has no finding about a corrected rule',
        as: 'admin',
        send: 'PUT /admin/api/policies/{idle}',
        body: { rules: [{ ...READ }] },
        status: 200,
        body_has: { warnings: [{ code: 'unassigned' }] },
        body_lacks: ['warnings.1'],
        entries: [{ kind: 'admin', action: 'update' }],
      },
    ],
    it,
  );
});

describe('findings in the response to an assignment', () => {
  checkScenarios(
    () => stage,
    [
      {
        name: 'an assignment to an unknown role has a finding',
        as: 'admin',
        send: 'POST /admin/api/policies/{fine}/assign/role/moderator',
        status: 201,
        body_has: { warnings: [{ code: 'unknown-role', role: 'moderator', policy: { id: '{fine}' } }] },
        entries: [{ kind: 'admin' }],
      },
      {
        name: 'an assignment to a known role has no finding',
        as: 'admin',
        send: 'POST /admin/api/policies/{fine}/assign/role/editor',
        status: 201,
        body_lacks: ['warnings'],
        entries: [{ kind: 'admin' }],
      },
      {
        name: 'an assignment that has expired has a finding',
        as: 'admin',
        send: 'POST /admin/api/policies/{missing}/assign/user/{maya}',
        body: { expiresAt: '2020-01-01T00:00:00Z' },
        status: 201,
        body_has: { warnings: [{ code: 'expired', users: ['{maya}'] }] },
        entries: [{ kind: 'admin' }],
      },
      {
        name: 'an assignment without an expiry has no finding',
        as: 'admin',
        send: 'PUT /admin/api/policies/{missing}/assign/user/{maya}',
        body: { expiresAt: null },
        status: 200,
        body_lacks: ['warnings'],
        entries: [{ kind: 'admin' }],
      },
    ],
    it,
  );
});

describe('the list of findings', () => {
  checkScenarios(
    () => stage,
    [
      {
        name: 'refuses the list of findings to a user who is not an admin',
        as: 'maya',
        send: 'GET /admin/api/policies-advice',
        status: 403,
        entries: [{ kind: 'admin', allowed: false }],
      },
      creates('night', { rules: [{ ...READ, effect: 'DENY', ...AT_NIGHT }] }, { body_lacks: ['warnings'] }),
      {
        name: 'one of two conflicting policies is assigned',
        as: 'admin',
        send: 'POST /admin/api/policies/{night}/assign/role/editor',
        status: 201,
        entries: [{}],
      },
      {
        name: 'the other of two conflicting policies is assigned',
        as: 'admin',
        send: 'POST /admin/api/policies/{idle}/assign/role/editor',
        status: 201,
        entries: [{}],
      },
      lists('lists a conflict of an ALLOW with a DENY of the same rank', 'code=conflict', {
        body_has: {
          count: 1,
          data: [
            {
              code: 'conflict',
              policy: { id: '{idle}', name: 'idle' },
              rule: {},
              other: { rule: { id: '{night_0}' }, policy: { id: '{night}' } },
            },
          ],
        },
      }),
      lists('lists the same conflict for the policy of the DENY', 'code=conflict&policyId={night}', {
        body_has: { count: 1, data: [{ policy: { id: '{night}' }, rule: { id: '{night_0}' }, other: { policy: { id: '{idle}' } } }] },
      }),
      {
        name: 'a decision agrees with the listed conflict: the DENY wins',
        as: 'admin',
        send: 'POST /admin/api/policies/test-access',
        body: {
          user: { id: 'u9', role: 'editor' },
          resource: { name: 'Article' },
          action: 'read',
          environment: { timestamp: '2026-03-01T03:00:00Z' },
        },
        status: 200,
        body_has: { data: { allowed: false, matchedRule: '{night_0}' } },
      },
      lists('lists all findings of one policy', 'policyId={pattern}', {
        body_has: { count: 2, data: [{ code: 'unassigned' }, { code: 'in-memory', rule: { id: '{pattern_0}' } }] },
      }),
      lists('lists nothing if a policy has no finding of the given code', 'policyId={fine}&code=empty', {
        body_has: { count: 0, data: [] },
      }),
      lists('rejects a list of findings of an unknown policy', 'policyId=01900000-0000-7000-8000-000000000000', {
        status: 404,
        body_has: { code: 'POLICY_UNKNOWN' },
      }),
      lists('rejects a list of findings of an unknown code', 'code=conflicts', { status: 400, body_has: { code: 'REQUEST_PARAMETER' } }),
      lists('rejects a list of findings with an invalid limit', 'limit=0', { status: 400 }),
      lists('rejects a list of findings with an invalid cursor', 'cursor=abc', { status: 400, body_has: { code: 'REQUEST_CURSOR' } }),
    ],
    it,
  );

  it('lists the same findings in pages', async () => {
    const { service, tokens } = stage;
    const ask = (query: string) => service.call('GET', `/admin/api/policies-advice?${query}`, { token: tokens.get('admin') });
    const all = async (limit: number): Promise<{ findings: readonly unknown[]; pages: number }> => {
      const findings: unknown[] = [];
      for (let [cursor, pages]: [unknown, number] = ['', 0]; ; pages++) {
        if (cursor === undefined) return { findings, pages };
        const page = await ask(`limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`);
        findings.push(...(page.at('data') as readonly unknown[]));
        cursor = page.at('nextCursor');
      }
    };
    const [paged, whole] = [await all(2), await all(100)];
    expect(paged.findings).toEqual(whole.findings);
    // Two per page: six findings of this test and those of the setup. A slow page ends earlier.
    expect(paged.pages).toBeGreaterThanOrEqual(4);
  });
});

describe('a definition that changes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-findings-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs `work` with a service on the same data in which Note has these fields. */
  async function run<Result>(fields: string, work: (send: Send) => Promise<Result>): Promise<Result> {
    mkdirSync(join(folder, 'resources'), { recursive: true });
    writeFileSync(join(folder, 'resources', 'Note.yaml'), `name: Note\nfields: ${fields}\n`);
    const service = await createService(parseConfig({ flags: { project: folder, port: 0, logLevel: 'silent' }, env: {} }));
    const { url } = await service.listen();
    try {
      return await work(async (path, body, token = '') => {
        const headers = { 'content-type': 'application/json', ...(token !== '' && { authorization: `Bearer ${token}` }) };
        const response = await fetch(
          `${url}${path}`,
          body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) },
        );
        return (await response.json()) as Record<string, unknown>;
      });
    } finally {
      await service.close();
    }
  }

  it('lists conditions that are always unknown after a change of a definition', async () => {
    const account = { email: 'admin@example.com', password: 'correct horse battery' };
    const conditions = [{ field: 'resource.draft', operator: 'eq', value: false }];
    const policy = { name: 'open notes', type: 'CUSTOM', rules: [{ resource: 'Note', action: 'read', conditions }] };
    const written = await run('{ title: { type: string }, draft: { type: boolean } }', async (send) => {
      await send('/auth/setup', { ...account, name: 'Admin' });
      const { token } = await send('/auth/login', account);
      return send('/admin/api/policies', policy, String(token));
    });
    expect(written).toMatchObject({ success: true });
    expect(written).not.toHaveProperty('warnings');
    const findings = await run('{ title: { type: string } }', async (send) => {
      const { token } = await send('/auth/login', account);
      return send('/admin/api/policies-advice?code=always-unknown', undefined, String(token));
    });
    expect(findings['data']).toMatchObject([
      { policy: { name: 'open notes' }, path: 'rules.0.conditions.0.field', code: 'always-unknown' },
    ]);
  });
});

type Send = (path: string, body?: object, token?: string) => Promise<Record<string, unknown>>;

describe('the guide to managing policies', () => {
  it('the guide to managing policies lists every code of a finding in order, and no other code', () => {
    const guide = readFileSync(new URL('../../docs/guides/managing-policies.md', import.meta.url), 'utf8');
    const [, section = ''] = /^## Policy findings\n([\s\S]*?)(?=^## )/m.exec(guide) ?? [];
    expect([...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, code]) => code)).toEqual([...FINDINGS.keys()]);
  });
});
