/** Four replicas on one PostgreSQL, asked by turns or at once. */
import { openDatabase } from '../../src/storage/index.ts';
import { type Reply, type RunningService, type ServiceOptions, startService } from '../harness.ts';
import { testDatabaseUrl } from './test-database.ts';

/** Services on one database. */
export interface Replicas {
  /** The next one, by turns. */
  next(): RunningService;
  /** Rows as they are. */
  stored(sql: string): Promise<readonly Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** Starts them at once, on an empty database: one of them makes the tables, and the others find them. */
export async function startReplicas(definitions: NonNullable<ServiceOptions['definitions']>): Promise<Replicas> {
  const settings = { database: testDatabaseUrl(''), jwtSecret: 'one secret for all the replicas of a test', rateLimit: 0 };
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

/** The same asked so many times at once. */
export function atOnce(times: number, work: (index: number) => Promise<Reply>): Promise<readonly Reply[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => work(index)));
}

/** How many answered with which status. */
export function counted(replies: readonly Reply[]): Readonly<Record<number, number>> {
  const statuses = Map.groupBy(replies, ({ status }) => status);
  return Object.fromEntries([...statuses].map(([status, same]) => [status, same.length]));
}
