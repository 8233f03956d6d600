/** Four replicas in this process on one PostgreSQL. */
import { openDatabase } from '../../src/storage/index.ts';
import { type Reply, type RunningService, type ServiceOptions, startService } from '../harness.ts';
import { createDatabaseUrl } from './test-database.ts';

/** The replicas. */
export interface Replicas {
  /** Returns the next replica in turn. */
  next(): RunningService;
  /** Queries the database directly. */
  stored(sql: string): Promise<readonly Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** Starts all replicas at once on an empty database. One of them creates the tables. */
export async function startReplicas(definitions: NonNullable<ServiceOptions['definitions']>): Promise<Replicas> {
  const settings = { database: createDatabaseUrl(''), jwtSecret: 'one secret for all the replicas of a test', rateLimit: 0 };
  const replicas = await Promise.all([1, 2, 3, 4].map(() => startService({ definitions, settings })));
  let turn = 0;
  return {
    next: () => replicas[turn++ % replicas.length] as RunningService,
    async stored(sql) {
      const database = await openDatabase({ database: settings.database });
      const rows = await database.transaction((tx) => tx.all({ sql, parameters: [] }));
      await database.close();
      return rows;
    },
    close: async () => void (await Promise.all(replicas.map((replica) => replica.close()))),
  };
}

/** Runs the work a number of times concurrently. */
export function atOnce(times: number, work: (index: number) => Promise<Reply>): Promise<readonly Reply[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => work(index)));
}

/** Counts responses by status. */
export function counted(replies: readonly Reply[]): Readonly<Record<number, number>> {
  const statuses = Map.groupBy(replies, ({ status }) => status);
  return Object.fromEntries([...statuses].map(([status, same]) => [status, same.length]));
}
