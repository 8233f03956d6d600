/** A load of writes, the acknowledged changes, and a comparison of the audit log with the tables afterwards. */
import { type Program, type Reply, send } from '../process/program.ts';
import { createNote, type Fleet } from './fleet.ts';
import { isLost, type SendRequest } from './load.ts';

/** Changes that any replica has acknowledged. */
export interface Acknowledged {
  /** Decision ids of all responses that have one. */
  readonly decisions: Set<string>;
  /** Acknowledged notes with the highest acknowledged version of each. */
  readonly notes: Map<string, number>;
  readonly deleted: Set<string>;
  readonly switched: { count: number };
  /** Unexpected responses. */
  readonly faults: string[];
}

/** Creates an empty record of acknowledged changes. */
export function createAcknowledged(): Acknowledged {
  return { decisions: new Set(), notes: new Map(), deleted: new Set(), switched: { count: 0 }, faults: [] };
}

/**
 * Creates, updates, deletes, reads and lists notes, and sometimes changes a policy or sends an invalid token. The policy `policyId` affects no
 * decision.
 */
export function sendChanges({ admin: token }: Pick<Fleet, 'admin'>, policyId: string, acknowledged: Acknowledged): SendRequest {
  const own = new Map<number, string[]>();
  return async (replica, index) => {
    const ids = own.get(index) ?? [];
    own.set(index, ids);
    const isRefused = Math.random() < 0.05;
    const reply = isRefused
      ? await send(replica.url, 'GET /api/Note', { token: 'a.b.c' })
      : await askForOne(replica, { token, ids, policyId }, acknowledged);
    if (reply.decisionId !== null) acknowledged.decisions.add(reply.decisionId);
    // The note may be deleted by a request whose response was lost.
    const expected = isRefused ? [401, 503] : [200, 201, 404, 503];
    if (!expected.includes(reply.status)) acknowledged.faults.push(`${reply.status} ${JSON.stringify(reply.body)}`);
    return reply;
  };
}

interface Means {
  readonly token: string;
  /** Notes that no other client changes. */
  readonly ids: string[];
  readonly policyId: string;
}

async function askForOne(replica: Program, { token, ids, policyId }: Means, acknowledged: Acknowledged): Promise<Reply> {
  const { url } = replica;
  const at = Math.floor(Math.random() * ids.length);
  const id = ids[at];
  const chance = Math.random();
  if (chance < 0.05) {
    const reply = await send(url, `PUT /admin/api/policies/${policyId}`, { token, body: { priority: Math.floor(chance * 1000) } });
    if (reply.status === 200) acknowledged.switched.count++;
    return reply;
  }
  if (id === undefined || chance < 0.3) {
    const reply = await createNote(replica, token);
    if (reply.status === 201) ids.push(noteVersion(reply, acknowledged));
    return reply;
  }
  if (chance < 0.6) {
    const reply = await send(url, `PUT /api/Note/${id}`, { token, body: { text: String(chance) } });
    if (reply.status === 200) noteVersion(reply, acknowledged);
    return reply;
  }
  if (chance < 0.7) {
    ids.splice(at, 1);
    const reply = await send(url, `DELETE /api/Note/${id}`, { token });
    if (reply.status === 200) acknowledged.deleted.add(id);
    return reply;
  }
  return send(url, chance < 0.85 ? `GET /api/Note/${id}` : 'GET /api/Note?limit=3', { token });
}

function noteVersion({ body }: Reply, { notes }: Acknowledged): string {
  const { id, version } = body.data as { readonly id: string; readonly version: number };
  notes.set(id, Math.max(notes.get(id) ?? 0, version));
  return id;
}

/** Returns all mismatches as text: responses without an entry, changes without an entry, and entries without a change. */
export async function findLosses(fleet: Fleet, policyId: string, acknowledged: Acknowledged): Promise<readonly string[]> {
  const entries = new Set((await fleet.query('SELECT "id" FROM "_Decision"')).map(({ id }) => id));
  const versions = new Map((await fleet.query('SELECT "id", "version" FROM "Note"')).map(({ id, version }) => [id, Number(version)]));
  const lost = (what: string, ids: readonly string[]): readonly string[] => ids.map((id) => `${what}: ${id}`);
  return [
    ...acknowledged.faults,
    ...lost(
      'acknowledged without an entry',
      [...acknowledged.decisions].filter((id) => !entries.has(id)),
    ),
    ...lost(
      'acknowledged as deleted, but stored',
      [...acknowledged.deleted].filter((id) => versions.has(id)),
    ),
    ...[...acknowledged.notes].flatMap(([id, version]) =>
      (versions.get(id) ?? Number.POSITIVE_INFINITY) < version ? [`acknowledged as of version ${version}: ${id}`] : [],
    ),
    ...(await findUnpaired(fleet, policyId)),
    ...(await findBreaks(fleet)),
  ];
}

/** Verifies the hash chains of the audit log. */
async function findBreaks({ verify }: Fleet): Promise<readonly string[]> {
  const { code, out, err } = await verify();
  return code === 0 ? [] : [out + err];
}

/** Compares the audit log with the tables, in the database. */
async function findUnpaired({ query }: Fleet, policyId: string): Promise<readonly string[]> {
  const notes = await query(`
    WITH change AS (
      SELECT * FROM "_Decision" WHERE "resource" = 'Note' AND "allowed" AND "outcome" IS NULL
    ), later AS (
      SELECT "recordId" AS id, count(*) FILTER (WHERE "action" = 'update') AS updated, count(*) FILTER (WHERE "action" = 'delete') AS deleted
      FROM change WHERE "action" IN ('update', 'delete') GROUP BY "recordId"
    ), created AS (
      SELECT "requestId" AS slug, count(*) AS created FROM change WHERE "action" = 'create' GROUP BY "requestId"
    )
    SELECT coalesce(later.id, "Note".id) AS id, created, updated, deleted, "Note".version
    FROM "Note" LEFT JOIN created ON created.slug = "Note".slug FULL JOIN later ON later.id = "Note".id
    WHERE CASE WHEN "Note".id IS NULL THEN deleted <> 1
      ELSE created IS DISTINCT FROM 1 OR "Note".version <> 1 + coalesce(updated, 0) OR deleted > 0 END`);
  const creations = await query(`SELECT * FROM (SELECT
      (SELECT count(*) FROM "Note") AS notes,
      (SELECT count(*) FROM "_Decision" WHERE "resource" = 'Note' AND "action" = 'delete' AND "allowed" AND "outcome" IS NULL) AS deleted,
      (SELECT count(*) FROM "_Decision" WHERE "resource" = 'Note' AND "action" = 'create' AND "allowed" AND "outcome" IS NULL) AS created
    ) AS told WHERE notes + deleted <> created`);
  const policies = await query(
    `SELECT * FROM (SELECT
      (SELECT count(*) FROM "_PolicyHistory" WHERE "kind" = 'policy' AND "subjectId" = $1) AS versions,
      (SELECT count(*) FROM "_Decision" WHERE "kind" = 'admin' AND "resource" = 'Policy' AND "recordId" = $1) AS entries
    ) AS counted WHERE versions <> entries`,
    [policyId],
  );
  const hours = await query(`SELECT * FROM (SELECT
      (SELECT sum("grants" + "denials") FROM "_DecisionHour") AS counted,
      (SELECT count(*) FROM "_Decision" WHERE "kind" = 'access') AS entries
    ) AS told WHERE counted <> entries`);
  return [...notes, ...creations, ...policies, ...hours].map((row) => JSON.stringify(row));
}

/** Sends requests until one succeeds, within the time in which a service must reconnect to its database. */
export async function untilReady({ admin: token }: Pick<Fleet, 'admin'>, { url }: Program): Promise<void> {
  for (const until = performance.now() + 60_000; ; ) {
    const reply = await send(url, 'GET /api/Note?limit=1', { token }).catch((error: unknown) => {
      if (!isLost(error)) throw error;
    });
    if (reply?.status === 200) return;
    if (performance.now() > until) throw new Error(`expected the service to answer again, given ${JSON.stringify(reply?.body)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
