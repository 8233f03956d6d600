/**
 * How long a snapshot takes to compile and what it keeps in memory, in a process of its own: `node --expose-gc memory.ts <shape>`.
 * Policies as stored are not counted: whoever loads them pays for them, and a snapshot that is lazy holds on to them.
 */
import { prepareSnapshot, toRun, toState, toStateByUser } from './bailiwick.ts';
import { SHAPES, type Shape } from './shape.ts';

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
  const cells = [of.name.padEnd(42), assigned.padEnd(20), milliseconds.toFixed(1).padEnd(14), bytes(compiled).padEnd(18), bytes(used)];
  process.stdout.write(`${cells.join('')}\n`);
}

function heap(): number {
  for (let times = 0; times < 3; times++) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
