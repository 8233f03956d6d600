/**
 * Takes something away and gives it back, over and over, while every replica is asked without a pause by whoever it is about.
 * What was answered is judged by two watches: ours, by which nothing that was asked after the change was answered may rest on what was
 * before; and the server's, by which each entry agrees with what was in force at the moment that it was committed.
 */
import { type Program, pause, type Reply, send } from '../process/program.ts';
import { createNote, type Fleet, type FleetUser } from './fleet.ts';
import { beginLoad } from './load.ts';

/** Something that a user's access hangs on. */
export interface Toggle {
  /** What is taken away and given back, as in "when …". */
  readonly name: string;
  readonly user: FleetUser;
  /** Resolves when it is gone, and that was answered. */
  off(): Promise<Pick<Reply, 'arrivedAt'>>;
  on(): Promise<unknown>;
}

/** What was found. */
export interface Freshness {
  /** Toggles, and requests that were sent right behind one. */
  readonly toggles: number;
  readonly asked: number;
  /** Answers under load. */
  readonly answers: number;
  /** Asked after it was gone, and allowed: each as text. */
  readonly stale: readonly string[];
  /** Asked after it was given back, and denied. */
  readonly missing: readonly string[];
  /** Entries that do not agree with what was in force when they were committed, by the server. */
  readonly disagreeing: readonly string[];
  /** Allowed under load, and here only after the answer that it is gone: on its way while the change was. */
  readonly overtaken: number;
}

interface Window {
  readonly goneAt: number;
  /** Until somebody began to give it back. */
  untilAt: number;
}

/** How much is asked. */
export interface Toggling {
  readonly rounds: number;
  /** Requests in flight at each replica, but for those right behind a change. */
  readonly inFlight: number;
}

/** Toggles so many times. */
export async function toggleUnderLoad(fleet: Fleet, toggle: Toggle, { rounds, inFlight }: Toggling): Promise<Freshness> {
  const answers: Reply[] = [];
  const windows: Window[] = [];
  const probes = { gone: [] as Reply[], back: [] as Reply[] };
  const load = beginLoad(
    fleet,
    async (replica, index) => {
      const reply = await askFor(replica, toggle.user, index);
      answers.push(reply);
      return reply;
    },
    inFlight,
  );
  const probe = (): Promise<Reply[]> => Promise.all(fleet.replicas.map((replica, index) => askFor(replica, toggle.user, index)));
  for (let round = 0; round < rounds; round++) {
    const { arrivedAt: goneAt } = await toggle.off();
    const window = { goneAt, untilAt: Number.POSITIVE_INFINITY };
    windows.push(window);
    probes.gone.push(...(await probe()));
    window.untilAt = performance.now();
    await toggle.on();
    probes.back.push(...(await probe()));
    // Some of what is under way has to find it there.
    await pause(Math.random() * 20);
  }
  await load.stop();
  const within = (reply: Reply, at: 'sentAt' | 'arrivedAt'): boolean =>
    isAllowed(reply) && windows.some(({ goneAt, untilAt }) => reply[at] > goneAt && reply.arrivedAt < untilAt);
  return {
    toggles: 2 * rounds,
    asked: probes.gone.length + probes.back.length,
    answers: answers.length,
    stale: [...probes.gone.filter(isAllowed), ...answers.filter((reply) => within(reply, 'sentAt'))].map(show),
    missing: [...probes.back.filter((reply) => !isAllowed(reply)), ...[...answers, ...probes.gone].filter(isFault)].map(show),
    disagreeing: await findDisagreeing(fleet, toggle.user),
    overtaken: answers.filter((reply) => within(reply, 'arrivedAt') && !within(reply, 'sentAt')).length,
  };
}

/** Reads, lists and writes, by turns. */
function askFor(replica: Program, { token }: FleetUser, index: number): Promise<Reply> {
  const { url } = replica;
  if (index % 4 === 3) return createNote(replica, token);
  return send(url, index % 2 === 0 ? 'GET /api/Note?limit=1' : 'GET /api/Note?limit=2&sort=-createdAt', { token });
}

function isAllowed({ status }: Reply): boolean {
  return status < 300;
}

/** Neither allowed nor denied. */
function isFault({ status }: Reply): boolean {
  return status >= 300 && status !== 401 && status !== 403;
}

function show({ status, decisionId, body }: Reply): string {
  return `${status} ${decisionId} ${body.detail ?? ''}`;
}

/**
 * Entries of the user, and of whoever took away and gave back, in the order in which the server committed them: what was allowed
 * while it was gone, and denied while it was there. (A change that has been committed is seen by whatever begins after it; what had begun
 * before either commits before it, or is decided again.)
 */
async function findDisagreeing(fleet: Fleet, { id }: FleetUser): Promise<readonly string[]> {
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
     WHERE before > 0 AND "userId" = $1 AND allowed = (before % 2 = 1) ORDER BY committed LIMIT 20`,
    [id],
  );
  return rows.map((row) => JSON.stringify(row));
}
