/** Records the file operations of programs with strace: a service under load, and commands on its data. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleProgram } from '../process/bundle.ts';
import { type Program, pause, startProgram } from '../process/program.ts';
import { type FileEvent, LAST_LINE, parseTrace, STRACE, toMark } from './file-events.ts';
import { DEFINITIONS } from './load.ts';
import { type Answered, type Client, createClient } from './load-client.ts';

/** The operations on the disk, and the requests that were answered. */
export interface Recording {
  readonly project: string;
  /** The files before the first event. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly events: readonly FileEvent[];
  readonly answered: readonly Answered[];
}

/** Runs programs, one after the other, on the same disk. */
export interface Recorder {
  /** The uppermost folder of the disk, with the folder `data`. */
  readonly root: string;
  /** The requests and commands that have an answer. */
  readonly answered: Answered[];
  /** Runs a service until the work is done. @throws if the service does not start. */
  runService(work: (client: Client, program: Program) => Promise<void>): Promise<void>;
  /** Runs a command of the program. Its end is the answer. */
  runCommand(args: readonly string[], answer: Answered): Promise<CommandEnd>;
  /** Runs another program, such as `rm`. */
  runOther(command: readonly string[]): Promise<CommandEnd>;
  /** Returns the operations of all programs so far. */
  readEvents(): readonly FileEvent[];
}

/** Exit code and output of a recorded command. */
export interface CommandEnd {
  readonly code: number;
  readonly out: string;
}

/** Writes the project of the load; returns its folder. */
export function writeLoadProject(folder: string): string {
  const project = join(folder, 'project');
  mkdirSync(join(project, 'resources'), { recursive: true });
  for (const [name, text] of Object.entries(DEFINITIONS)) writeFileSync(join(project, 'resources', `${name}.yaml`), text);
  return project;
}

/** Starts a service with limits that the load does not reach. */
export function startLoaded(data: string, project: string, runner: readonly string[] = []): Promise<Program> {
  const limits = ['--rate-limit', '0', '--login-attempts', '100000', '--denial-window-seconds', '1'];
  return startProgram({ data, project, args: ['--log-level', 'error', '--setup', 'token', ...limits], runner });
}

/** Creates a recorder with a disk in the folder. `faults` are further arguments of strace. */
export function createRecorder(folder: string, project: string, faults: readonly string[] = []): Recorder {
  const root = mkdtempSync(join(folder, 'disk-'));
  const data = join(root, 'data');
  const answered: Answered[] = [];
  const lines: string[] = [];
  let traces = 0;
  const nextTrace = (): string => `${root}.trace-${traces++}`;

  async function run(command: readonly string[], answer?: Answered): Promise<CommandEnd> {
    const trace = nextTrace();
    const end = await execute([...STRACE, ...faults, '-o', trace, ...command]);
    lines.push(...(await readTrace(trace)));
    if (answer !== undefined && end.code === 0) {
      lines.push(toMark(answer.requestId));
      answered.push(answer);
    }
    return end;
  }

  return {
    root,
    answered,
    async runService(work) {
      const trace = nextTrace();
      try {
        const program = await startLoaded(data, project, [...STRACE, ...faults, '-o', trace]);
        const client = createClient(program.url);
        await work(client, program).finally(() => program.stop());
        answered.push(...client.answered);
      } finally {
        lines.push(...(await readTrace(trace)));
      }
    },
    runCommand: async (args, answer) =>
      run([process.execPath, await bundleProgram(), ...args, '--project', project, '--data', data], answer),
    runOther: (command) => run(command),
    readEvents: () => parseTrace(lines, root),
  };
}

function execute([file = '', ...args]: readonly string[]): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const child = execFile(file, args, (_, out) => resolve({ code: child.exitCode ?? 1, out }));
  });
}

/** Milliseconds in which strace ends after the process that it traces. */
const TRACE_ENDS = 30_000;

/** Returns the lines of a trace, once strace has written the last one. */
async function readTrace(path: string): Promise<readonly string[]> {
  for (const from = performance.now(); performance.now() - from < TRACE_ENDS; await pause(100)) {
    const lines = readFileSync(path, 'latin1').split('\n');
    if (LAST_LINE.test(lines.at(-2) ?? '')) return lines;
  }
  throw new Error(`expected the end of the process in the last line of ${path}`);
}
