/** A load that writes, and what it was told; and what the record and the tables have to say to each other about it afterwards. */
import { type Program, type Reply, send } from '../process/program.ts';
import { createNote, type Fleet } from './fleet.ts';
import { type Asking, isLost } from './load.ts';

/** What was answered, by whichever replica. */
export interface Answered {
  /** Of every answer that names its decision. */
  readonly decisions: Set<string>;
  /** Notes that were answered as made, and the highest version answered of each. */
  readonly notes: Map<string, number>;
  readonly deleted: Set<string>;
  readonly switched: { count: number };
  /** Answers that nobody should have had. */
  readonly faults: string[];
}

/** Nothing yet. */
export function createAnswered(): Answered {
  return { decisions: new Set(), notes: new Map(), deleted: new Set(), switched: { count: 0 }, faults: [] };
}

/** Creates, changes, deletes, reads, lists, and now and then changes a policy. `policyId` is of no consequence to anybody. */
export function askForChanges({ admin: token }: Pick<Fleet, 'admin'>, policyId: string, answered: Answered): Asking {
  const own = new Map<number, string[]>();
  return async (replica, index) => {
    const ids = own.get(index) ?? [];
    own.set(index, ids);
    const reply = await askForOne(replica, { token, ids, policyId }, answered);
    if (reply.decisionId !== null) answered.decisions.add(reply.decisionId);
    // Gone, where a deletion was done whose answer was lost.
    if (reply.status >= 300 && ![404, 503].includes(reply.status)) answered.faults.push(`${reply.status} ${JSON.stringify(reply.body)}`);
    return reply;
  };
}

interface Means {
  readonly token: string;
  /** Notes that nobody else changes. */
  readonly ids: string[];
  readonly policyId: string;
}

async function askForOne(replica: Program, { token, ids, policyId }: Means, answered: Answered): Promise<Reply> {
  const { url } = replica;
  const at = Math.floor(Math.random() * ids.length);
  const id = ids[at];
  const chance = Math.random();
  if (chance < 0.05) {
    const reply = await send(url, `PUT /admin/api/policies/${policyId}`, { token, body: { priority: Math.floor(chance * 1000) } });
    if (reply.status === 200) answered.switched.count++;
    return reply;
  }
  if (id === undefined || chance < 0.3) {
    const reply = await createNote(replica, token);
    if (reply.status === 201) ids.push(noteVersion(reply, answered));
    return reply;
  }
  if (chance < 0.6) {
    const reply = await send(url, `PUT /api/Note/${id}`, { token, body: { text: String(chance) } });
    if (reply.status === 200) noteVersion(reply, answered);
    return reply;
  }
  if (chance < 0.7) {
    ids.splice(at, 1);
    const reply = await send(url, `DELETE /api/Note/${id}`, { token });
    if (reply.status === 200) answered.deleted.add(id);
    return reply;
  }
  return send(url, chance < 0.85 ? `GET /api/Note/${id}` : 'GET /api/Note?limit=3', { token });
}

function noteVersion({ body }: Reply, { notes }: Answered): string {
  const { id, version } = body.data as { readonly id: string; readonly version: number };
  notes.set(id, Math.max(notes.get(id) ?? 0, version));
  return id;
}

/** What does not fit, as text; nothing where every answer has its entry, every change one, and every entry of a change its change. */
export async function findLosses(fleet: Fleet, policyId: string, answered: Answered): Promise<readonly string[]> {
  const entries = new Set((await fleet.query('SELECT "id" FROM "_Decision"')).map(({ id }) => id));
  const versions = new Map((await fleet.query('SELECT "id", "version" FROM "Note"')).map(({ id, version }) => [id, Number(version)]));
  const lost = (what: string, ids: readonly string[]): readonly string[] => ids.map((id) => `${what}: ${id}`);
  return [
    ...answered.faults,
    ...lost(
      'answered without an entry',
      [...answered.decisions].filter((id) => !entries.has(id)),
    ),
    ...lost(
      'answered as deleted, and there',
      [...answered.deleted].filter((id) => versions.has(id)),
    ),
    ...[...answered.notes].flatMap(([id, version]) =>
      (versions.get(id) ?? Number.POSITIVE_INFINITY) < version ? [`answered as of version ${version}: ${id}`] : [],
    ),
    ...(await findUnpaired(fleet, policyId)),
    ...(await findBreaks(fleet)),
  ];
}

/** Entries that are not as they were written, or missing among others. */
async function findBreaks({ verify }: Fleet): Promise<readonly string[]> {
  const { code, out, err } = await verify();
  return code === 0 ? [] : [out + err];
}

/** Looks at the database alone. */
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

/** Asks until there is an answer that is a success: within what a service may take to find its database again. */
export async function untilAnswered({ admin: token }: Pick<Fleet, 'admin'>, { url }: Program): Promise<void> {
  for (const until = performance.now() + 60_000; ; ) {
    const reply = await send(url, 'GET /api/Note?limit=1', { token }).catch((error: unknown) => {
      if (!isLost(error)) throw error;
    });
    if (reply?.status === 200) return;
    if (performance.now() > until) throw new Error(`expected the service to answer again, given ${JSON.stringify(reply?.body)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
