import { type FSWatcher, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { watchFolders } from './watch-folders.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-watch-'));
const project = join(folder, 'project');
mkdirSync(join(project, 'policies'), { recursive: true });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The code with which the system refuses to watch; the tests run as a user that may read every folder. */
let refusal = '';
vi.mock('node:fs', async (load) => ({
  ...(await load<typeof import('node:fs')>()),
  watch: (path: string): FSWatcher => {
    throw Object.assign(new Error(`${refusal}: watch '${path}'`), { code: refusal });
  },
}));

it.each([
  ['EACCES', "EACCES: watch '"],
  ['EMFILE', 'fs.inotify.max_user_instances'],
  ['ENOSPC', 'fs.inotify.max_user_watches'],
])('logs that a folder cannot be watched because of %s, and does not throw', (code, reason) => {
  refusal = code;
  const lines: string[] = [];
  const stop = watchFolders(project, [{ name: 'policies', content: 'policies', reload: async () => undefined }], (line) =>
    lines.push(line),
  );
  stop();
  expect(lines).toEqual([
    expect.stringMatching(/^cannot watch the policies, so changes need a restart: /),
    expect.stringMatching(/^cannot watch the project, so changes need a restart: /),
  ]);
  for (const line of lines) expect(line).toContain(reason);
});
