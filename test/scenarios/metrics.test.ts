/** `/metrics`: its samples, its authentication, and values that it never shows. */
import { afterEach, describe, expect, it } from 'vitest';
import { type RunningService, startService } from '../harness.ts';

const TOKEN = 'a-token-of-metrics-that-is-long-enough';
const definitions = {
  'Note.yaml': 'name: Note\nfields:\n  title: { type: string, required: true }\n  secret: { type: string }\n',
};

const open: RunningService[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((service) => service.close()));
});

async function start(settings: object): Promise<RunningService> {
  const service = await startService({ definitions, settings });
  open.push(service);
  return service;
}

/** Parses samples by name and labels: `a{b="c"}` → value. */
function samplesOf(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))] as const;
    }),
  );
}

describe('metrics', () => {
  it('metrics count requests, decisions and commits, and show the revision', async () => {
    const service = await start({ metricsToken: TOKEN });
    await service.createPolicy({
      rules: [
        { resource: 'Note', action: 'read', effect: 'ALLOW' },
        { resource: 'Note', action: 'list', effect: 'ALLOW' },
      ],
      role: 'user',
    });
    const { token } = await service.user();
    const id = await service.createRecord('Note', { title: 'a', secret: 'swordfish' });
    for (const path of [`/api/Note/${id}`, '/api/Note', '/api/Note?limit=1']) await service.call('GET', path, { token });
    await service.call('DELETE', `/api/Note/${id}`, { token });
    await service.call('GET', '/api/Note/no-such-note', { token });
    await service.call('GET', '/no/such/swordfish');

    const { text, status, headers } = await service.call('GET', '/metrics', { token: TOKEN });
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
      'no-store',
    ]);
    const samples = samplesOf(text);
    const sample = (name: string): number | undefined => samples.get(name);
    expect(sample('bailiwick_http_requests_total{method="GET",route="/api/:resource",status="2xx"}')).toBe(2);
    expect(sample('bailiwick_http_requests_total{method="GET",route="/api/:resource/:id",status="2xx"}')).toBe(1);
    expect(sample('bailiwick_http_requests_total{method="DELETE",route="/api/:resource/:id",status="4xx"}')).toBe(1);
    expect(sample('bailiwick_http_requests_total{method="GET",route="none",status="4xx"}')).toBe(1);
    expect(sample('bailiwick_http_request_duration_seconds_count{method="GET",route="/api/:resource"}')).toBe(2);
    expect(sample('bailiwick_decisions_total{effect="allow",resource="Note",action="list"}')).toBe(2);
    expect(sample('bailiwick_decisions_total{effect="deny",resource="Note",action="delete"}')).toBe(1);
    expect(sample('bailiwick_decision_duration_seconds_count')).toBeGreaterThanOrEqual(5);
    expect(sample('bailiwick_commit_duration_seconds_count')).toBeGreaterThanOrEqual(5);
    expect(sample('bailiwick_commit_transactions_sum')).toBeGreaterThanOrEqual(5);
    expect(sample('bailiwick_epoch')).toBeGreaterThanOrEqual(2);
    expect(sample('bailiwick_database_size_bytes')).toBeGreaterThan(10_000);
    const isFile = service.database.startsWith('sqlite:');
    expect(sample('bailiwick_disk_free_bytes')).toEqual(isFile ? expect.any(Number) : undefined);
    expect(sample('bailiwick_guard_retries_total')).toBe(0);
    expect(sample('bailiwick_queue_depth')).toBe(0);
    expect(sample('nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0);
    for (const shown of ['swordfish', id, 'no-such-note', service.dataFolder]) expect(text).not.toContain(shown);
  });

  it('metrics count each decision in the audit log once, even if its unit of work was retried', async () => {
    const service = await start({ metricsToken: TOKEN });
    const { token } = await service.admin();
    // A password is hashed outside the transaction, which is then retried.
    await service.user({ name: 'Eve' });
    const items = [
      { action: 'create', resource: 'Note', data: { title: 'a' } },
      { action: 'create', resource: 'Note', data: {} },
    ];
    expect((await service.call('POST', '/api/batch', { token, body: { atomic: true, requests: items } })).status).toBeLessThan(500);
    const samples = samplesOf((await service.call('GET', '/metrics', { token: TOKEN })).text);
    const kept = (await service.decisions('limit=100')).filter(({ kind }) => kind === 'access');
    const counted = [...samples]
      .filter(([name]) => name.startsWith('bailiwick_decisions_total'))
      .reduce((sum, [, count]) => sum + count, 0);
    expect(kept.map(({ outcome }) => outcome)).toEqual(['VALUE_INVALID', 'BATCH_ABORTED', undefined]);
    expect(counted).toBe(kept.length);
    expect(samples.get('bailiwick_decisions_total{effect="allow",resource="User",action="create"}')).toBe(1);
  });

  it('metrics have no endpoint without a metrics token', async () => {
    const service = await start({});
    expect((await service.call('GET', '/metrics')).status).toBe(404);
  });

  it.each([
    ['no token', undefined, 401, 'IDENTITY_REQUIRED'],
    ['another token', `${TOKEN}.`, 401, 'IDENTITY_TOKEN'],
  ])('refuses metrics to a caller with %s', async (_, token, status, code) => {
    const service = await start({ metricsToken: TOKEN });
    const reply = await service.call('GET', '/metrics', { token });
    expect([reply.status, reply.at('code')]).toEqual([status, code]);
    expect((await service.call('GET', '/metrics', { token: (await service.admin()).token })).status).toBe(401);
  });
});
