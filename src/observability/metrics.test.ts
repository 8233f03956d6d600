import { describe, expect, it } from 'vitest';
import { createAggregatedMetrics, createMetrics, type Metrics, type MetricValues } from './metrics.ts';

function createUsed(revision: number): Metrics {
  const metrics = createMetrics();
  const database = {
    commits: 3,
    unitsOfWork: 9,
    waiting: 4,
    validationRetries: 2,
    longAttempts: 1,
    longWaiting: 5,
    longRefused: 6,
    connections: 10,
    idleConnections: 7,
  };
  const disk = { freeBytes: 1000 + revision, databaseBytes: undefined };
  metrics.setSource({ database: () => database, disk, revision: () => revision, streams: () => ({ open: 3, dropped: 4 }) });
  metrics.answered({ method: 'GET', route: '/api/:resource', status: 204, ms: 3 });
  metrics.answered({ method: 'GET', route: undefined, status: 404, ms: 0.1 });
  metrics.committed({ ms: 20, unitsOfWork: 4 });
  metrics.decided(0.002);
  metrics.decided(999_999);
  return metrics;
}

/** Returns the lines of one metric. */
function linesOf(text: string, name: string): readonly string[] {
  return text.split('\n').filter((line) => line.startsWith(name));
}

/** Returns the values as another process receives them. */
async function sent(metrics: Metrics): Promise<readonly MetricValues[]> {
  return JSON.parse(JSON.stringify(await metrics.values()));
}

describe('metrics of one process', () => {
  it('metrics contain histograms with cumulative buckets', async () => {
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

  it('metrics contain the current values of the database and the revision', async () => {
    const text = await createUsed(7).text();
    expect(linesOf(text, 'bailiwick_queue_depth ')).toEqual(['bailiwick_queue_depth 4']);
    expect(linesOf(text, 'bailiwick_long_requests ')).toEqual(['bailiwick_long_requests 1']);
    expect(linesOf(text, 'bailiwick_long_queue_depth ')).toEqual(['bailiwick_long_queue_depth 5']);
    expect(linesOf(text, 'bailiwick_long_refused_total ')).toEqual(['bailiwick_long_refused_total 6']);
    expect(linesOf(text, 'bailiwick_guard_retries_total ')).toEqual(['bailiwick_guard_retries_total 2']);
    expect(linesOf(text, 'bailiwick_epoch ')).toEqual(['bailiwick_epoch 7']);
    expect(linesOf(text, 'bailiwick_disk_free_bytes ')).toEqual(['bailiwick_disk_free_bytes 1007']);
    expect(linesOf(text, 'bailiwick_database_size_bytes '), 'not measured').toEqual([]);
    expect(linesOf(text, 'bailiwick_database_connections{')).toEqual([
      'bailiwick_database_connections{state="idle"} 7',
      'bailiwick_database_connections{state="used"} 3',
    ]);
  });
});

describe('metrics of several processes', () => {
  it('adds up the metrics of several processes, except the revision, which is the newest', async () => {
    const text = await createAggregatedMetrics().text([await sent(createUsed(7)), await sent(createUsed(9))]);
    expect(linesOf(text, 'bailiwick_http_requests_total{')).toEqual([
      'bailiwick_http_requests_total{method="GET",route="/api/:resource",status="2xx"} 2',
      'bailiwick_http_requests_total{method="GET",route="none",status="4xx"} 2',
    ]);
    expect(linesOf(text, 'bailiwick_epoch ')).toEqual(['bailiwick_epoch 9']);
    expect(linesOf(text, 'bailiwick_disk_free_bytes ')).toEqual(['bailiwick_disk_free_bytes 1009']);
    expect(linesOf(text, 'bailiwick_queue_depth ')).toEqual(['bailiwick_queue_depth 8']);
    expect(linesOf(text, 'bailiwick_commit_duration_seconds_bucket{le="0.025"}')).toEqual([
      'bailiwick_commit_duration_seconds_bucket{le="0.025"} 2',
    ]);
  });

  it('includes the counters of exited processes, not their gauges', async () => {
    const aggregated = createAggregatedMetrics();
    aggregated.addEnded(await sent(createUsed(7)));
    aggregated.addEnded(await sent(createUsed(9)));
    const text = await aggregated.text([await sent(createUsed(8))]);
    expect(linesOf(text, 'bailiwick_guard_retries_total ')).toEqual(['bailiwick_guard_retries_total 6']);
    expect(linesOf(text, 'bailiwick_decision_duration_seconds_count ')).toEqual(['bailiwick_decision_duration_seconds_count 6']);
    expect(linesOf(text, 'bailiwick_queue_depth ')).toEqual(['bailiwick_queue_depth 4']);
    expect(linesOf(text, 'bailiwick_epoch ')).toEqual(['bailiwick_epoch 8']);
  });
});
