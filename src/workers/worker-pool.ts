import { setTimeout as pause } from 'node:timers/promises';
import { SetupError } from '../errors.ts';
import type { Readiness } from '../http/index.ts';
import type { MetricValues } from '../observability/index.ts';

/** A process that serves. */
export interface WorkerProcess {
  /** Its address, once it takes requests; undefined where it ended before. */
  readonly ready: Promise<string | undefined>;
  /** Its exit code, once it has ended; null where a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Resolves when it could close its server, or has ended. */
  readonly drained: Promise<void>;
  /** The figures that it left when it ended. */
  readonly last: readonly MetricValues[] | undefined;
  /** Throws where it does not answer. */
  values(): Promise<readonly MetricValues[]>;
  readiness(): Promise<Readiness>;
  /** Number of connections that it has accepted. Throws where it does not answer. */
  accepted(): Promise<number>;
  /** Lets it close its server once it is drained. */
  release(): void;
  /** Hands no more connections to it. The listener closes in the same turn where it was the last one. */
  disconnect(): void;
  /** Lets it end what it has begun, and then itself. */
  end(how: { readonly isReplaced: boolean }): void;
  kill(): void;
}

/** What a crew goes by. */
export interface WorkerPoolOptions {
  readonly count: number;
  fork(): WorkerProcess;
  /** Told of who comes and goes unasked, a sentence each. */
  tell(line: string): void;
  /** Told of each that has ended. */
  onEnd?(worker: WorkerProcess): void;
  /** Milliseconds after which one that was to end is killed. */
  readonly endTime: number;
  /** Milliseconds before the first try to replace one that died; each further one waits twice as long. */
  readonly backOff?: number;
}

/** Workers, of which there are always as many as there are to be. */
export interface WorkerPool {
  /** Begins. Answers the address of all. @throws SetupError where one ends before it takes requests; it has said why. */
  start(): Promise<string>;
  /** Replaces one after the other by a new one, each when that takes requests. Where one does not come so far, the others stay. */
  restart(): Promise<void>;
  /** Those that take requests. */
  readonly working: readonly WorkerProcess[];
  /** Lets all end. */
  end(): Promise<void>;
  /** Ends all at once. */
  kill(): void;
}

const BACK_OFF = 100;
const LONGEST_BACK_OFF = 30_000;
/** Milliseconds for which a worker has to have worked for its end to be no failure of starting. */
const SETTLED = 10_000;

interface Member {
  readonly worker: WorkerProcess;
  isWorking: boolean;
  /** Nobody takes its place: it is to end. */
  isLeaving: boolean;
}

/** Makes a crew; nobody works before `start`. */
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const roster = createRoster(options);
  const { members } = roster;
  let restarting: Promise<void> | undefined;

  async function replaceAll(): Promise<void> {
    for (const old of [...members].filter(({ isWorking }) => isWorking)) {
      if (roster.isEnding || !(await isReplacedBy(old))) return roster.fill();
      await letEnd(old.worker, { isReplaced: true, within: options.endTime });
    }
    if (!roster.isEnding) options.tell('all workers are new');
  }

  /** Hires somebody in the place of another, who stays where that does not come so far as to take requests; answers whether it did. */
  async function isReplacedBy(old: Member): Promise<boolean> {
    old.isLeaving = true;
    const next = roster.hire();
    next.isLeaving = true;
    const hasStarted = (await next.worker.ready) !== undefined;
    if (hasStarted) next.isLeaving = false;
    else old.isLeaving = false;
    if (!hasStarted && !roster.isEnding) options.tell('a new worker did not start; those before it go on');
    return hasStarted;
  }

  return {
    start: () => roster.start(),
    restart() {
      restarting ??= replaceAll().finally(() => {
        restarting = undefined;
      });
      return restarting;
    },
    get working() {
      return [...members].filter(({ isWorking }) => isWorking).map(({ worker }) => worker);
    },
    async end() {
      roster.close();
      await Promise.all([...members].map(({ worker }) => letEnd(worker, { isReplaced: false, within: options.endTime })));
    },
    kill() {
      roster.close();
      for (const { worker } of members) worker.kill();
    },
  };
}

/** Lets a worker end, or kills it where it takes longer than `within` milliseconds. */
async function letEnd(
  worker: WorkerProcess,
  { isReplaced, within }: { readonly isReplaced: boolean; readonly within: number },
): Promise<void> {
  worker.end({ isReplaced });
  const late = setTimeout(() => worker.kill(), within);
  await worker.ended;
  clearTimeout(late);
}

/** Who there is, and who takes the place of those who die. */
interface Roster {
  readonly members: ReadonlySet<Member>;
  readonly isEnding: boolean;
  start(): Promise<string>;
  hire(): Member;
  /** Hires in the place of those that ended of themselves while somebody else was to take it. */
  fill(): void;
  /** From now on nobody is hired in the place of another. */
  close(): void;
}

function createRoster({ count, fork, tell, onEnd, backOff = BACK_OFF }: WorkerPoolOptions): Roster {
  const members = new Set<Member>();
  let hasStarted = false;
  let isEnding = false;
  const waitAfter = createBackOff(backOff);
  /** Those who will be hired when their time has come. */
  let coming = 0;

  function hire(): Member {
    const member = createMember(fork());
    const from = performance.now();
    members.add(member);
    void member.worker.ended.then((code) => {
      members.delete(member);
      onEnd?.(member.worker);
      if (hasStarted && !isEnding && !member.isLeaving) void replace(code, performance.now() - from);
    });
    return member;
  }

  async function replace(code: number | null, worked: number): Promise<void> {
    const wait = waitAfter(worked);
    tell(`a worker has ended${code === null ? '' : ` with ${code}`}; another one is started in ${wait} ms`);
    coming++;
    await pause(wait, undefined, { ref: false });
    coming--;
    if (!isEnding) hire();
  }

  return {
    members,
    hire,
    get isEnding() {
      return isEnding;
    },
    async start() {
      const url = addressOf(await Promise.all(Array.from({ length: count }, () => hire().worker.ready)));
      hasStarted = true;
      return url;
    },
    fill() {
      const staying = [...members].filter(({ isLeaving }) => !isLeaving).length;
      for (let missing = count - staying - coming; missing > 0 && !isEnding; missing--) hire();
    },
    close() {
      isEnding = true;
    },
  };
}

function createMember(worker: WorkerProcess): Member {
  const member: Member = { worker, isWorking: false, isLeaving: false };
  void worker.ready.then((url) => {
    member.isWorking = url !== undefined;
  });
  return member;
}

/** Milliseconds to wait after one that had worked for so long: each time twice as long, while they die soon after their start. */
function createBackOff(first: number): (worked: number) => number {
  let failures = 0;
  return (worked) => {
    failures = worked < SETTLED ? failures + 1 : 1;
    return Math.min(first * 2 ** (failures - 1), LONGEST_BACK_OFF);
  };
}

/** All listen at one address, or one of them does not listen. */
function addressOf(urls: readonly (string | undefined)[]): string {
  const [url] = urls;
  if (url === undefined || urls.includes(undefined)) throw new SetupError('a worker did not start; what it said stands above');
  return url;
}
