import type { Duplex } from 'node:stream';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { type Connection, createConnection } from './connection.ts';

/** Members of the driver that its types omit. */
interface Wire {
  readonly stream: Duplex & { _writev(...args: never): void };
  describe(message: unknown): void;
}

let pool: pg.Pool;
let client: pg.PoolClient & { readonly processID?: number | null };
let wire: Wire;
let connection: Connection;
let described: MockInstance;
beforeEach(async () => {
  pool = new pg.Pool({ connectionString: process.env['TEST_POSTGRES_URL'] ?? '', max: 1, pipeline: true });
  client = await pool.connect();
  wire = (client as unknown as { readonly connection: Wire }).connection;
  connection = createConnection(client, { preparesStatements: () => true, slot: 0 });
  described = vi.spyOn(wire, 'describe');
});
afterEach(async () => {
  client.release(true);
  await pool.end();
});

const PAIRS = `SELECT * FROM (VALUES (1, 'a', NULL), (2, NULL, TRUE)) AS pairs("n", "t", "is") WHERE "n" >= $1::int ORDER BY "n"`;
const queryPairs = async (from: number): Promise<unknown> => (await connection.query({ sql: PAIRS, parameters: [String(from)] })).rows;
const queryThrice = async (): Promise<void> => {
  for (let times = 0; times < 3; times++) {
    expect(await queryPairs(1)).toEqual([
      { n: 1, t: 'a', is: null },
      { n: 2, t: null, is: 1 },
    ]);
  }
  expect(await queryPairs(2)).toEqual([{ n: 2, t: null, is: 1 }]);
  expect(await queryPairs(3)).toEqual([]);
};

describe('the columns of a prepared statement', () => {
  it('describes the columns of a prepared statement once and then reuses them', async () => {
    connection.setBackendProcess(client.processID ?? 0);
    await queryThrice();
    // Once for the unnamed statement, and once for the prepared statement.
    expect(described).toHaveBeenCalledTimes(2);
  });

  it('describes the columns each time behind a pooler that may switch the process of the server', async () => {
    await queryThrice();
    expect(described).toHaveBeenCalledTimes(5);
  });

  it('describes the columns again after the statement is prepared again', async () => {
    connection.setBackendProcess(client.processID ?? 0);
    await queryThrice();
    connection.forgetStatements();
    await queryThrice();
    expect(described).toHaveBeenCalledTimes(4);
  });

  it('uses the new columns if the statement is sent again before it is prepared again', async () => {
    connection.setBackendProcess(client.processID ?? 0);
    await connection.send('CREATE TEMPORARY TABLE numbers AS SELECT 7 AS "n"');
    const numbers = async (): Promise<unknown> => (await connection.query({ sql: 'SELECT "n" FROM numbers', parameters: [] })).rows;
    for (let times = 0; times < 3; times++) expect(await numbers()).toEqual([{ n: 7 }]);
    await connection.send('ALTER TABLE numbers ALTER COLUMN "n" TYPE TEXT');
    connection.forgetStatements();
    expect(await Promise.all([numbers(), numbers(), numbers()])).toEqual([[{ n: '7' }], [{ n: '7' }], [{ n: '7' }]]);
  });

  it('the next success after a failure describes the columns', async () => {
    connection.setBackendProcess(client.processID ?? 0);
    const divide = (by: string): Promise<unknown> => connection.query({ sql: 'SELECT 6 / $1::int AS "n"', parameters: [by] });
    await divide('3');
    await expect(divide('0')).rejects.toThrow();
    expect(await divide('2')).toMatchObject({ rows: [{ n: 3 }] });
    await expect(divide('0')).rejects.toThrow();
    expect(await divide('1')).toMatchObject({ rows: [{ n: 6 }] });
  });
});

describe('statements of one turn of the event loop', () => {
  it('statements of one turn of the event loop leave in one message', async () => {
    const written = [vi.spyOn(wire.stream, '_write'), vi.spyOn(wire.stream, '_writev')];
    const messages = (): number => written.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    await Promise.all([connection.send('BEGIN'), queryPairs(1), connection.send('SAVEPOINT a'), queryPairs(2), connection.send('COMMIT')]);
    expect(messages()).toBe(1);
    await queryPairs(1);
    expect(messages()).toBe(2);
  });
});
