/** `GET /admin/api/system`: the state of the process and its database, for admins who operate the service. */
import { SetupError } from '../../errors.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { component, OneOf, Type } from '../../schemas/index.ts';
import { describeDamage, loadDatabaseVersion, loadDefinitionsHash } from '../../storage/index.ts';
import { type AdminDeps, type AdminEndpoint, adminEndpoint } from '../admin/index.ts';
import { COUNT, TEXT, TIMESTAMP } from '../schema-members.ts';

const CHECKS = ['policies', 'database', 'disk'] as const;

const OPTION = Type.Object({
  name: TEXT,
  group: TEXT,
  source: OneOf(['default', 'flag', 'environment']),
  value: Type.Optional(
    Type.Unsafe<string | number | readonly string[]>({
      anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'array', items: { type: 'string' } }],
      description: 'Absent for a secret, and without a value. The address of a database has neither user nor password.',
    }),
  ),
  isHidden: Type.Optional(Type.Unsafe<true>({ const: true, description: 'A secret that has a value.' })),
});

const SYSTEM_STATUS = component(
  'admin.SystemStatus',
  Type.Object({
    version: Type.Optional(TEXT),
    node: Type.String({ description: 'The version of Node.js.' }),
    startedAt: TIMESTAMP,
    uptimeSeconds: COUNT,
    runningWorkers: Type.Optional({
      ...COUNT,
      description: 'Workers of this service that accept requests. Absent if the service runs as one process.',
    }),
    database: Type.Object({
      kind: OneOf(['sqlite', 'postgres']),
      version: TEXT,
      bytes: Type.Optional({ ...COUNT, description: 'Size of the database, if it is measured.' }),
      freeBytes: Type.Optional({ ...COUNT, description: 'Free bytes on the disk of a SQLite database.' }),
    }),
    revision: { ...COUNT, description: 'The current revision of policies, assignments and definitions.' },
    definitions: Type.Object({
      hash: Type.Optional(Type.String({ description: 'Hash of the definitions in force.' })),
      pending: Type.Optional({
        ...COUNT,
        description:
          'Resources whose definition files differ from the definitions in force. `GET /admin/api/storage/plan` returns the steps with their risks. Absent if the files have mistakes.',
      }),
    }),
    checks: Type.Array(
      Type.Object({ name: OneOf(CHECKS), ok: Type.Boolean(), why: Type.Optional(Type.String({ description: 'The reason if not `ok`.' })) }),
      { description: 'The conditions of `/readyz` in this process, without a new attempt to reach the database.' },
    ),
    queues: Type.Object({
      waiting: { ...COUNT, description: 'Requests that wait for the database.' },
      longRunning: { ...COUNT, description: 'Long searches that run.' },
      longWaiting: { ...COUNT, description: 'Long searches that wait.' },
      connections: { ...COUNT, description: 'Open connections to PostgreSQL.' },
    }),
    lastCheckpointAt: Type.Optional({ ...TIMESTAMP, description: 'Time of the last checkpoint that this process signed.' }),
    lastBackup: Type.Optional(
      Type.Object({ name: TEXT, at: TIMESTAMP, bytes: COUNT }, { description: 'The newest automatic backup of a SQLite database.' }),
    ),
    options: Type.Array(OPTION, { description: 'The configuration of this process.' }),
  }),
);

/** The endpoint of the state of the process. */
export const systemEndpoints: readonly AdminEndpoint[] = [
  adminEndpoint({
    method: 'GET',
    path: '/system',
    id: 'system.read',
    tag: 'Admin storage',
    summary: 'Returns versions, settings, health, queues, the last checkpoint and the last backup of this process.',
    description: 'With several workers or replicas, each response is about the process that sends it. Secrets are never shown.',
    answers: {
      200: {
        description: 'The state.',
        schema: envelope(SYSTEM_STATUS),
        example: toSuccess({
          version: '0.1.0',
          node: '24.4.0',
          startedAt: '2026-01-31T09:00:00.000Z',
          uptimeSeconds: 3600,
          runningWorkers: 4,
          database: { kind: 'sqlite', version: '3.50.4', bytes: 1_048_576, freeBytes: 80_000_000_000 },
          revision: 12,
          definitions: { hash: '9bb91b5c1079d84e59083c44116241cdc34f7e1abb6ae624b4c92c2f64cec1ac', pending: 0 },
          checks: CHECKS.map((name) => ({ name, ok: true })),
          queues: { waiting: 0, longRunning: 0, longWaiting: 0, connections: 0 },
          lastCheckpointAt: '2026-01-31T09:59:00.000Z',
          options: [{ name: 'port', group: 'network', source: 'environment', value: 8787 }],
        }),
      },
    },
    // The response shows neither policies, audit entries nor values, and a page that is open all day would fill the audit log.
    isAudited: false,
    async handle({ tx, snapshot, deps }) {
      const { system, database, checkpoints, policyStore } = deps;
      const { version, node, startedAt, options, disk } = system;
      const { waiting, longAttempts, longWaiting, connections } = database.metrics;
      const hash = await loadDefinitionsHash(tx);
      const pending = countPending(deps, policyStore.definitions);
      const lastBackup = system.lastBackup();
      const runningWorkers = system.runningWorkers();
      const signed = [...checkpoints.heads.values()].map(({ at }) => at).toSorted();
      const lastCheckpointAt = signed.at(-1);
      return respond(
        200,
        toSuccess({
          ...(version !== undefined && { version }),
          ...{ node, startedAt, uptimeSeconds: system.uptimeSeconds() },
          ...(runningWorkers !== undefined && { runningWorkers }),
          database: {
            kind: tx.dialect.name,
            version: await loadDatabaseVersion(tx),
            ...(disk.databaseBytes !== undefined && { bytes: disk.databaseBytes }),
            ...(disk.freeBytes !== undefined && { freeBytes: disk.freeBytes }),
          },
          revision: snapshot.revision.number,
          definitions: { ...(hash !== undefined && { hash }), ...(pending !== undefined && { pending }) },
          checks: checksOf(deps),
          queues: { waiting, longRunning: longAttempts, longWaiting, connections },
          ...(lastCheckpointAt !== undefined && { lastCheckpointAt }),
          ...(lastBackup !== undefined && { lastBackup }),
          options,
        }),
      );
    },
  }),
];

interface Check {
  readonly name: (typeof CHECKS)[number];
  readonly ok: boolean;
  readonly why?: string;
}

function checksOf({ policyStore, database, system }: AdminDeps): readonly Check[] {
  const [damaged] = policyStore.damaged();
  const faults: Readonly<Record<Check['name'], string | undefined>> = {
    policies: damaged === undefined ? undefined : `${describeDamage(damaged)}; run "bailiwick verify"`,
    database: database.fault ?? (database.healthy ? undefined : 'decisions cannot be recorded'),
    disk: system.disk.fault,
  };
  return CHECKS.map((name) => {
    const why = faults[name];
    return { name, ok: why === undefined, ...(why !== undefined && { why }) };
  });
}

/** Counts the resources whose definition files differ from the definitions in force. Returns undefined if the files have mistakes. */
function countPending({ readDefinitions }: AdminDeps, inForce: Definitions): number | undefined {
  const files = readFiles(readDefinitions);
  if (files === undefined) return undefined;
  const names = new Set([...files.keys(), ...inForce.keys()]);
  return [...names].filter((name) => files.get(name)?.hash !== inForce.get(name)?.hash).length;
}

function readFiles(read: () => Definitions): Definitions | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SetupError) return undefined;
    throw error;
  }
}
