/** Records the file operations of a service under load with strace, from its first start to the end of its second. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Program, pause, startProgram } from '../process/program.ts';
import { type FileEvent, LAST_LINE, parseTrace, STRACE } from './file-events.ts';
import { type Answered, createClient, DEFINITIONS, KINDS, type Stage, setUpStage } from './load.ts';

/** The operations on the disk, and the requests that were answered. */
export interface Recording {
  readonly project: string;
  /** The files before the first event. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly events: readonly FileEvent[];
  readonly answered: readonly Answered[];
}

/** Rounds of each kind of request in a run. */
const ROUNDS = 2;

/** Starts of the service. The first begins without a database. */
const STARTS = 2;

/** Writes the project of the load; returns its folder. */
export function writeLoadProject(folder: string): string {
  const project = join(folder, 'project');
  mkdirSync(join(project, 'resources'), { recursive: true });
  for (const [name, text] of Object.entries(DEFINITIONS)) writeFileSync(join(project, 'resources', `${name}.yaml`), text);
  return project;
}

/** Starts a service with limits that the load does not reach. */
export function startLoaded(data: string, project: string, runner: readonly string[] = []): Promise<Program> {
  const args = ['--log-level', 'error', '--rate-limit', '0', '--login-attempts', '100000', '--denial-window-seconds', '1'];
  return startProgram({ data, project, args, runner });
}

/** Runs a service in the folder under load, and returns the recording. */
export async function recordLoad(folder: string): Promise<Recording> {
  const project = writeLoadProject(folder);
  const data = join(folder, 'data');
  const answered: Answered[] = [];
  const lines: string[] = [];
  let stage: Stage | undefined;
  for (let run = 0; run < STARTS; run++) {
    const trace = join(folder, `trace-${run}`);
    const program = await startLoaded(data, project, [...STRACE, '-o', trace]);
    const client = createClient(program.url);
    stage ??= await setUpStage(client);
    const loads = Object.values(KINDS).map(async (round) => {
      for (let number = 0; number < ROUNDS; number++) await round(client, stage as Stage, `${run}.${number}`);
    });
    await Promise.all(loads);
    await program.stop();
    answered.push(...client.answered);
    lines.push(...(await readTrace(trace)));
  }
  return { project, answered, files: new Map(), events: parseTrace(lines, data) };
}

/** Milliseconds in which strace ends after the process that it traces. */
const TRACE_ENDS = 30_000;

/** Returns the lines of a trace, once strace has written the last one. */
export async function readTrace(path: string): Promise<readonly string[]> {
  for (const from = performance.now(); performance.now() - from < TRACE_ENDS; await pause(100)) {
    const lines = readFileSync(path, 'latin1').split('\n');
    if (LAST_LINE.test(lines.at(-2) ?? '')) return lines;
  }
  throw new Error(`expected the end of the process in the last line of ${path}`);
}
