/**
 * Revokes and restores access repeatedly while its user sends requests to every replica without a pause. The responses are
 * checked by two clocks: by the clock of the test, no request sent after the acknowledged change may depend on the old state;
 * by the commit order of the server, each entry must agree with the state in force when it was committed.
 */
import { type Program, pause, type Reply, send } from '../process/program.ts';
import { createNote, type Fleet, type FleetUser } from './fleet.ts';
import { beginLoad } from './load.ts';

/** A change that revokes and restores the access of a user. */
export interface Toggle {
  /** Name of the change. */
  readonly name: string;
  readonly user: FleetUser;
  /** Revokes the access; resolves after the acknowledgement. */
  off(): Promise<Pick<Reply, 'arrivedAt'>>;
  on(): Promise<unknown>;
  /** True if the user may always list, and the access decides which records a list has. The entries of lists do not show this access. */
  readonly ofRecords?: boolean | undefined;
}

/** Counts and violations. */
export interface Freshness {
  /** Number of toggles, and of requests sent right after one. */
  readonly toggles: number;
  readonly asked: number;
  /** Number of responses under load. */
  readonly answers: number;
  /** Requests that were sent after the revoke and allowed, as text. */
  readonly stale: readonly string[];
  /** Requests that were sent after the restore and denied, as text. */
  readonly missing: readonly string[];
  /** Entries that disagree with the state in force at their commit. */
  readonly disagreeing: readonly string[];
  /** Number of allowed requests whose response arrived after the revoke was acknowledged: they were in flight during the change. */
  readonly overtaken: number;
}

interface Window {
  readonly goneAt: number;
  /** When the restore began. */
  untilAt: number;
}

/** Number of rounds and requests in flight. */
export interface ToggleOptions {
  readonly rounds: number;
  /** Requests in flight per replica, without those right after a change. */
  readonly inFlight: number;
}

/** Toggles access in each round under load; returns counts and violations. */
export async function toggleUnderLoad(fleet: Fleet, toggle: Toggle, { rounds, inFlight }: ToggleOptions): Promise<Freshness> {
  const answers: Reply[] = [];
  const windows: Window[] = [];
  const probes = { gone: [] as Reply[], back: [] as Reply[] };
  const load = beginLoad(
    fleet,
    async (replica, index) => {
      const reply = await askFor(replica, toggle, index);
      answers.push(reply);
      return reply;
    },
    { inFlight },
  );
  const probe = (): Promise<Reply[]> => Promise.all(fleet.replicas.map((replica, index) => askFor(replica, toggle, index)));
  for (let round = 0; round < rounds; round++) {
    const { arrivedAt: goneAt } = await toggle.off();
    const window = { goneAt, untilAt: Number.POSITIVE_INFINITY };
    windows.push(window);
    probes.gone.push(...(await probe()));
    window.untilAt = performance.now();
    await toggle.on();
    probes.back.push(...(await probe()));
    // Some requests in flight must be decided with the access restored.
    await pause(Math.random() * 20);
  }
  await load.stop();
  const isAllowed = toggle.ofRecords ? hasRecords : isSuccess;
  const within = (reply: Reply, at: 'sentAt' | 'arrivedAt'): boolean =>
    isAllowed(reply) && windows.some(({ goneAt, untilAt }) => reply[at] > goneAt && reply.arrivedAt < untilAt);
  return {
    toggles: 2 * rounds,
    asked: probes.gone.length + probes.back.length,
    answers: answers.length,
    stale: [...probes.gone.filter(isAllowed), ...answers.filter((reply) => within(reply, 'sentAt'))].map(show),
    missing: [...probes.back.filter((reply) => !isAllowed(reply)), ...[...answers, ...probes.gone].filter(isFault)].map(show),
    disagreeing: await findDisagreeing(fleet, toggle, answers),
    overtaken: answers.filter((reply) => within(reply, 'arrivedAt') && !within(reply, 'sentAt')).length,
  };
}

/** Sends lists, some with a total, and writes in turn. */
function askFor(replica: Program, { user: { token }, ofRecords }: Toggle, index: number): Promise<Reply> {
  const { url } = replica;
  if (ofRecords)
    return send(url, index % 2 === 0 ? 'GET /api/Post?limit=1' : 'GET /api/Post?limit=1&total=true&sort=-createdAt', { token });
  if (index % 4 === 3) return createNote(replica, token);
  return send(url, index % 2 === 0 ? 'GET /api/Note?limit=1' : 'GET /api/Note?limit=2&sort=-createdAt', { token });
}

function isSuccess({ status }: Reply): boolean {
  return status < 300;
}

/** Returns true for a list with a record, or with a total other than zero. */
function hasRecords({ status, body }: Reply): boolean {
  const { data, total = 0 } = body as { readonly data?: unknown; readonly total?: number };
  return status < 300 && ((Array.isArray(data) && data.length > 0) || total > 0);
}

/** Tells whether the request was neither allowed nor denied. */
function isFault({ status }: Reply): boolean {
  return status >= 300 && status !== 401 && status !== 403;
}

function show({ status, decisionId, body }: Reply): string {
  return `${status} ${decisionId} ${body.detail ?? ''}`;
}

/**
 * Returns entries of the user that were allowed while the access was revoked, or denied while it was in force, by the commit
 * order of the server. A transaction that begins after a committed change sees it. A transaction that began before commits
 * before the change, or is decided again. Entries of refused tokens are left out: repeated ones are committed together a minute later, and a token
 * of a session that has ended is refused for ever. Of lists whose records show the access, only those with records are returned: a list without any
 * is not read again if the access is restored.
 */
async function findDisagreeing(fleet: Fleet, { user, ofRecords }: Toggle, answers: readonly Reply[]): Promise<readonly string[]> {
  const rows = await fleet.query(
    `WITH entry AS (
       SELECT *, pg_xact_commit_timestamp(xmin) AS committed,
         "requestId" LIKE 'toggle-' || $1 || '-%' AND "allowed" AND "outcome" IS NULL AS changes
       FROM "_Decision"
     ), counted AS (
       SELECT *, count(*) FILTER (WHERE changes) OVER (ORDER BY committed)
         - count(*) FILTER (WHERE changes) OVER (PARTITION BY committed) AS before
       FROM entry
     )
     SELECT id, allowed, action, epoch, committed FROM counted
     WHERE before > 0 AND "userId" = $1 AND "action" <> 'token' AND allowed = (before % 2 = 1) ORDER BY committed LIMIT $2`,
    [user.id, ofRecords ? null : 20],
  );
  const withRecords = new Set(answers.filter(hasRecords).map(({ decisionId }) => decisionId));
  const disagreeing = ofRecords ? rows.filter((row) => withRecords.has(String(row['id']))) : rows;
  return disagreeing.slice(0, 20).map((row) => JSON.stringify(row));
}
