/**
 * Measures the time to compile a policy snapshot, and its memory: `node bench/snapshot.ts`. Runs each shape in a separate process. The
 * stored policies are not counted, although a snapshot that compiles on first use keeps them in memory.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { prepareSnapshot, toRun, toState, toStateByUser } from './contestants/bailiwick.ts';
import { SHAPES, type Shape } from './contestants/shape.ts';

const COLUMNS: readonly number[] = [42, 20, 14, 18, 10];

if (process.argv[2] === undefined) {
  row(['snapshot', 'assigned', 'compile ms', 'bytes per policy', 'bytes after use of every rule']);
  for (const [index, { users }] of SHAPES.entries()) {
    if (users.size < 1000) continue;
    const flags = ['--expose-gc', fileURLToPath(import.meta.url), String(index)];
    process.stdout.write(execFileSync(process.execPath, flags, { encoding: 'utf8' }));
  }
}
const shape = SHAPES[Number(process.argv[2])];
if (shape !== undefined) {
  report(shape, 'by role', toState(shape));
  report(shape, 'by user', toStateByUser(shape));
}

function report(of: Shape, assigned: string, state: ReturnType<typeof toState>): void {
  const before = heap();
  const began = performance.now();
  const prepared = prepareSnapshot(state);
  const milliseconds = performance.now() - began;
  const compiled = heap() - before;
  const someone = new Map([...of.users].map(([userId, role]) => [role, userId]));
  for (const { role, resource } of of.rules) {
    const userId = someone.get(role) ?? '';
    toRun({ ...of, requests: [{ userId, role, resource, action: 'read', record: {} }] }, prepared)();
  }
  const used = heap() - before;
  const bytes = (total: number) => Math.round(total / prepared.snapshot.policies.size).toLocaleString('en');
  row([of.name, assigned, milliseconds.toFixed(1), bytes(compiled), bytes(used)]);
}

function heap(): number {
  for (let times = 0; times < 3; times++) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

function row(cells: readonly string[]): void {
  process.stdout.write(
    `${cells
      .map((cell, index) => cell.padEnd(COLUMNS[index] ?? 0))
      .join('')
      .trimEnd()}\n`,
  );
}
