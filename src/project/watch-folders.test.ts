import fs, { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { watchFolders } from './watch-folders.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-watch-'));
const project = join(folder, 'project');
mkdirSync(join(project, 'policies'), { recursive: true });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Lets the system refuse to watch: the tests run as a user that may read every folder. The sources see the replaced function too. */
function refuseToWatch(code: string): void {
  vi.spyOn(fs, 'watch').mockImplementation((path) => {
    throw Object.assign(new Error(`${code}: watch '${String(path)}'`), { code });
  });
  syncBuiltinESMExports();
}
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

it.each([
  ['EACCES', "EACCES: watch '"],
  ['EMFILE', 'fs.inotify.max_user_instances'],
  ['ENOSPC', 'fs.inotify.max_user_watches'],
])('logs that a folder cannot be watched because of %s, and does not throw', (code, reason) => {
  refuseToWatch(code);
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
