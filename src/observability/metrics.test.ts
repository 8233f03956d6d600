import { describe, expect, it } from 'vitest';
import { createAggregatedMetrics, createMetrics, type Metrics, type MetricValues } from './metrics.ts';

function createUsed(epoch: number): Metrics {
  const meters = createMetrics();
  const figures = { commits: 3, works: 9, waiting: 4, guardRetries: 2, connections: 10, idleConnections: 7 };
  meters.follow({ figures: () => figures, epoch: () => epoch });
  meters.answered({ method: 'GET', route: '/api/:resource', status: 204, ms: 3 });
  meters.answered({ method: 'GET', route: undefined, status: 404, ms: 0.1 });
  meters.committed({ ms: 20, works: 4 });
  meters.decided(0.002);
  meters.decided(999_999);
  return meters;
}

/** Lines of one metric, as they stand. */
function linesOf(text: string, name: string): readonly string[] {
  return text.split('\n').filter((line) => line.startsWith(name));
}

/** As they arrive from another process. */
async function sent(meters: Metrics): Promise<readonly MetricValues[]> {
  return JSON.parse(JSON.stringify(await meters.values()));
}

describe('meters', () => {
  it('show a distribution as a histogram: each bucket counts those below it too', async () => {
    const text = await createUsed(7).text();
    expect(linesOf(text, 'bailiwick_decision_duration_seconds')).toEqual([
      'bailiwick_decision_duration_seconds_bucket{le="0.000001"} 0',
      'bailiwick_decision_duration_seconds_bucket{le="0.0000025"} 1',
      ...['0.000005', '0.00001', '0.000025', '0.00005', '0.0001', '0.00025', '0.0005', '0.001', '0.01', '0.1'].map(
        (le) => `bailiwick_decision_duration_seconds_bucket{le="${le}"} 1`,
      ),
      'bailiwick_decision_duration_seconds_bucket{le="+Inf"} 2',
      'bailiwick_decision_duration_seconds_sum 999.999002',
      'bailiwick_decision_duration_seconds_count 2',
    ]);
    expect(text).toContain('# TYPE bailiwick_decision_duration_seconds histogram\n');
    expect(linesOf(text, 'bailiwick_commit_transactions_bucket{le="2"}')).toEqual(['bailiwick_commit_transactions_bucket{le="2"} 0']);
    expect(linesOf(text, 'bailiwick_commit_transactions_bucket{le="4"}')).toEqual(['bailiwick_commit_transactions_bucket{le="4"} 1']);
  });

  it('show what the database knows, as it is when they are asked', async () => {
    const text = await createUsed(7).text();
    expect(linesOf(text, 'bailiwick_queue_depth ')).toEqual(['bailiwick_queue_depth 4']);
    expect(linesOf(text, 'bailiwick_guard_retries_total ')).toEqual(['bailiwick_guard_retries_total 2']);
    expect(linesOf(text, 'bailiwick_epoch ')).toEqual(['bailiwick_epoch 7']);
    expect(linesOf(text, 'bailiwick_database_connections{')).toEqual([
      'bailiwick_database_connections{state="idle"} 7',
      'bailiwick_database_connections{state="used"} 3',
    ]);
  });
});

describe('metrics of several processes', () => {
  it('are added up, the epoch apart, which is the newest', async () => {
    const text = await createAggregatedMetrics().text([await sent(createUsed(7)), await sent(createUsed(9))]);
    expect(linesOf(text, 'bailiwick_http_requests_total{')).toEqual([
      'bailiwick_http_requests_total{method="GET",route="/api/:resource",status="2xx"} 2',
      'bailiwick_http_requests_total{method="GET",route="none",status="4xx"} 2',
    ]);
    expect(linesOf(text, 'bailiwick_epoch ')).toEqual(['bailiwick_epoch 9']);
    expect(linesOf(text, 'bailiwick_queue_depth ')).toEqual(['bailiwick_queue_depth 8']);
    expect(linesOf(text, 'bailiwick_commit_duration_seconds_bucket{le="0.025"}')).toEqual([
      'bailiwick_commit_duration_seconds_bucket{le="0.025"} 2',
    ]);
  });

  it('keep what processes that have ended had counted, and not how they stood', async () => {
    const together = createAggregatedMetrics();
    together.keep(await sent(createUsed(7)));
    together.keep(await sent(createUsed(9)));
    const text = await together.text([await sent(createUsed(8))]);
    expect(linesOf(text, 'bailiwick_guard_retries_total ')).toEqual(['bailiwick_guard_retries_total 6']);
    expect(linesOf(text, 'bailiwick_decision_duration_seconds_count ')).toEqual(['bailiwick_decision_duration_seconds_count 6']);
    expect(linesOf(text, 'bailiwick_queue_depth ')).toEqual(['bailiwick_queue_depth 4']);
    expect(linesOf(text, 'bailiwick_epoch ')).toEqual(['bailiwick_epoch 8']);
  });
});
