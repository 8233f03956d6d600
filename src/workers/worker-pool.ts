import { SetupError } from '../errors.ts';
import type { Readiness } from '../http/index.ts';
import type { MetricValues } from '../observability/index.ts';

/** A worker, as the primary sees it. */
export interface WorkerProcess {
  /** The process id; undefined if the process could not be started. */
  readonly pid: number | undefined;
  /** Resolves to the worker's address when the worker accepts requests; to undefined if it exited before. */
  readonly ready: Promise<string | undefined>;
  /** Resolves when the process has exited: to its exit code, or to null if a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Resolves when the worker has no request in progress and can close its server, or when it has exited. */
  readonly drained: Promise<void>;
  /** The metrics that the worker sent before it exited; undefined if it sent none. */
  readonly finalMetrics: readonly MetricValues[] | undefined;
  /** Returns the current metrics of the worker. Throws if the worker does not reply. */
  metrics(): Promise<readonly MetricValues[]>;
  readiness(): Promise<Readiness>;
  /** Returns the number of connections that the worker has accepted. Throws if the worker does not reply. */
  accepted(): Promise<number>;
  /** Notifies the worker of the number of workers that accept requests. */
  announce(working: number): void;
  /** Lets a drained worker close its server. */
  release(): void;
  /** Hands no more connections to the worker. Disconnecting the last worker closes the listener in the same turn of the event loop. */
  disconnect(): void;
  /** Makes the worker finish the requests in progress and exit. */
  end(how: { readonly isReplaced: boolean }): void;
  kill(): void;
}

/** The options of a worker pool. */
export interface WorkerPoolOptions {
  /** Number of workers. */
  readonly count: number;
  fork(): WorkerProcess;
  /** Called with a sentence when a worker exits unexpectedly or all have been replaced. */
  log(line: string): void;
  /** Called when a worker has exited. */
  onEnd?(worker: WorkerProcess): void;
  /** Milliseconds after which a worker that does not exit is killed. */
  readonly endTimeout: number;
  /** Milliseconds before the first worker that died is replaced; doubled for each further failure. */
  readonly backOff?: number;
}

/** A fixed number of workers; those that die are replaced. */
export interface WorkerPool {
  /** Starts all workers and returns their address. @throws SetupError if a worker exits before it accepts requests; it has printed why. */
  start(): Promise<string>;
  /**
   * Replaces the workers one after the other, each when its replacement accepts requests. Stops if a replacement fails to start. A call while workers are
   * replaced replaces all of them again afterwards, because the program may have changed since.
   */
  restart(): Promise<void>;
  /** The workers that accept requests. */
  readonly working: readonly WorkerProcess[];
  /** Ends all workers and waits until they have exited. */
  end(): Promise<void>;
  /** Kills all workers. */
  kill(): void;
}

const BACK_OFF_MS = 100;
const MAX_BACK_OFF_MS = 30_000;
/** Milliseconds of uptime below which an exit doubles the wait before the next replacement. */
const STABLE_AFTER_MS = 10_000;

interface Member {
  readonly worker: WorkerProcess;
  isWorking: boolean;
  /** True if the exit of the worker is expected, so that the worker is not replaced. */
  isLeaving: boolean;
}

/** Creates a pool; `start` starts its workers. */
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const roster = createRoster(options);
  const { members } = roster;
  const restart = createRestart(roster, options);
  return {
    start: () => roster.start(),
    restart,
    get working() {
      return [...members].filter(({ isWorking }) => isWorking).map(({ worker }) => worker);
    },
    async end() {
      roster.close();
      await Promise.all([...members].map(({ worker }) => endOrKill(worker, { isReplaced: false, timeout: options.endTimeout })));
    },
    kill() {
      roster.close();
      for (const { worker } of members) worker.kill();
    },
  };
}

/** Creates the function that replaces all workers. */
function createRestart(roster: Roster, options: WorkerPoolOptions): () => Promise<void> {
  const { members } = roster;
  let restarting: Promise<void> | undefined;
  let isRequested = false;

  async function replaceUntilNoneIsRequested(): Promise<void> {
    try {
      while (isRequested && !roster.isEnding) {
        isRequested = false;
        await replaceAll();
      }
    } finally {
      restarting = undefined;
    }
  }

  async function replaceAll(): Promise<void> {
    for (const old of [...members].filter(({ isWorking }) => isWorking)) {
      // The roster has replaced a worker that has died since.
      if (!members.has(old)) continue;
      if (roster.isEnding || !(await startReplacement(old))) return roster.fill();
      await endOrKill(old.worker, { isReplaced: true, timeout: options.endTimeout });
    }
    if (!roster.isEnding) options.log('all workers have been replaced');
  }

  /** Starts a replacement for a worker and returns whether it accepts requests. If not, the old worker stays. */
  async function startReplacement(old: Member): Promise<boolean> {
    old.isLeaving = true;
    const next = roster.add();
    next.isLeaving = true;
    const hasStarted = (await next.worker.ready) !== undefined;
    if (hasStarted) next.isLeaving = false;
    else old.isLeaving = false;
    if (!hasStarted && !roster.isEnding) options.log('a new worker failed to start; the existing workers keep running');
    return hasStarted;
  }

  return () => {
    isRequested = true;
    restarting ??= replaceUntilNoneIsRequested();
    return restarting;
  };
}

/** Ends a worker, and kills it if it has not exited after the timeout. */
async function endOrKill(
  worker: WorkerProcess,
  { isReplaced, timeout }: { readonly isReplaced: boolean; readonly timeout: number },
): Promise<void> {
  worker.end({ isReplaced });
  const timer = setTimeout(() => worker.kill(), timeout);
  await worker.ended;
  clearTimeout(timer);
}

/** The workers of a pool. Workers that exit unexpectedly are replaced. */
interface Roster {
  readonly members: ReadonlySet<Member>;
  readonly isEnding: boolean;
  start(): Promise<string>;
  add(): Member;
  /** Starts workers until the pool is complete again: workers that `restart` was replacing may have exited without a replacement. */
  fill(): void;
  /** Replaces no worker from now on. */
  close(): void;
}

function createRoster({ count, fork, log, onEnd, backOff = BACK_OFF_MS }: WorkerPoolOptions): Roster {
  const members = new Set<Member>();
  let hasStarted = false;
  let isEnding = false;
  const waitAfter = createBackOff(backOff);
  const scheduled = createTimers();

  function add(): Member {
    const member = createMember(fork(), () => announce(members));
    const from = performance.now();
    members.add(member);
    void member.worker.ended.then((code) => {
      members.delete(member);
      onEnd?.(member.worker);
      announce(members);
      if (hasStarted && !isEnding && !member.isLeaving) replace(code, performance.now() - from);
    });
    return member;
  }

  function replace(code: number | null, uptime: number): void {
    const wait = waitAfter(uptime);
    log(`a worker exited${code === null ? '' : ` with code ${code}`}; a replacement starts in ${wait} ms`);
    scheduled.add(add, wait);
  }

  function fill(): void {
    for (let missing = count - countStaying(members) - scheduled.size; missing > 0 && !isEnding; missing--) add();
  }

  return {
    members,
    add,
    get isEnding() {
      return isEnding;
    },
    async start() {
      const url = addressOf(await Promise.all(Array.from({ length: count }, () => add().worker.ready)));
      hasStarted = true;
      if (members.size < count && !isEnding) log('a worker exited during the start; a replacement starts now');
      fill();
      return url;
    },
    fill,
    close() {
      isEnding = true;
      scheduled.clear();
    },
  };
}

/** Timers of workers that will be started after their back-off. They keep the process running while it has no worker. */
function createTimers(): { readonly size: number; add(run: () => void, wait: number): void; clear(): void } {
  const timers = new Set<NodeJS.Timeout>();
  return {
    get size() {
      return timers.size;
    },
    add(run, wait) {
      const timer = setTimeout(() => {
        timers.delete(timer);
        run();
      }, wait);
      timers.add(timer);
    },
    clear() {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

function countStaying(members: Iterable<Member>): number {
  return [...members].filter(({ isLeaving }) => !isLeaving).length;
}

/** Sends the number of workers that accept requests to each of them. */
function announce(members: Iterable<Member>): void {
  const working = [...members].filter(({ isWorking }) => isWorking);
  for (const { worker } of working) worker.announce(working.length);
}

function createMember(worker: WorkerProcess, onReady: () => void): Member {
  const member: Member = { worker, isWorking: false, isLeaving: false };
  void worker.ready.then((url) => {
    member.isWorking = url !== undefined;
    onReady();
  });
  return member;
}

/** Creates a function that returns the milliseconds to wait after an exit: twice as long after each exit within `STABLE_AFTER_MS`. */
function createBackOff(first: number): (uptime: number) => number {
  let failures = 0;
  return (uptime) => {
    failures = uptime < STABLE_AFTER_MS ? failures + 1 : 1;
    return Math.min(first * 2 ** (failures - 1), MAX_BACK_OFF_MS);
  };
}

/** Returns the address that all workers share. */
function addressOf(urls: readonly (string | undefined)[]): string {
  const [url] = urls;
  if (url === undefined || urls.includes(undefined)) throw new SetupError('a worker failed to start; its error is printed above');
  return url;
}
