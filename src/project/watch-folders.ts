/** Watches folders of a project for changes. */
import { existsSync, type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../errors.ts';
import type { Log } from '../storage/index.ts';

/** A folder of a project, and what happens when its files have changed. */
export interface WatchedFolder {
  /** The name in the project, such as `policies`. */
  readonly name: string;
  /** The word for its content: `definitions`. */
  readonly content: string;
  reload(): Promise<void>;
}

/** Milliseconds that must pass without a change before a reload, because editors often save a file in several steps. */
const DEBOUNCE = 150;

/** Matches the names of temporary files of editors. */
const TEMPORARY = /^\.|~$/;

/**
 * Calls `reload` of a folder after its files have changed; calls never overlap, and the folders are reloaded in the given order. A folder may be created
 * or replaced later. Logs the mistakes of a reload that fails. Returns a function that stops watching.
 */
export function watchFolders(project: string, folders: readonly WatchedFolder[], log: Log): () => void {
  const changed = new Set<WatchedFolder>();
  const watchers = new Map<WatchedFolder, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  let isStopped = false;
  const reloadChanged = (): void => {
    const due = folders.filter((folder) => changed.has(folder));
    changed.clear();
    for (const folder of due) {
      running = running.then(() => (isStopped ? undefined : reloadFolder(folder, log)));
    }
  };
  const note = (folder: WatchedFolder): void => {
    changed.add(folder);
    clearTimeout(timer);
    timer = setTimeout(reloadChanged, DEBOUNCE);
  };
  const attach = (folder: WatchedFolder): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
    const path = join(project, folder.name);
    if (!existsSync(path)) return;
    const watcher = watchPath(path, { content: folder.content, log }, (file) => {
      if (file === null || !TEMPORARY.test(file)) note(folder);
    });
    if (watcher !== undefined) watchers.set(folder, watcher);
  };
  for (const folder of folders) attach(folder);
  // A folder that is replaced has another watcher.
  const root = watchPath(project, { content: 'project', log }, (name) => {
    for (const folder of folders.filter((each) => name === null || each.name === name)) {
      attach(folder);
      note(folder);
    }
  });
  return () => {
    isStopped = true;
    clearTimeout(timer);
    for (const watcher of [root, ...watchers.values()]) watcher?.close();
  };
}

/** Watches a path and calls `onChange` with the name of a file that has changed, if the system names it. Logs why it cannot watch. */
function watchPath(
  path: string,
  { content, log }: { readonly content: string; readonly log: Log },
  onChange: (file: string | null) => void,
): FSWatcher | undefined {
  const report = (error: unknown): void => log(`cannot watch the ${content}, so changes need a restart: ${toReason(error)}`);
  try {
    return watch(path, (_, file) => onChange(file)).on('error', report);
  } catch (error) {
    report(error);
    return undefined;
  }
}

/** The limits of Linux behind the codes of errors, whose messages name open files and the disk. */
const LIMITS: ReadonlyMap<string | undefined, string> = new Map([
  ['EMFILE', 'the limit of inotify instances or of open files is reached; raise fs.inotify.max_user_instances with sysctl, or ulimit -n'],
  ['ENOSPC', 'the limit of inotify watches is reached; raise fs.inotify.max_user_watches with sysctl'],
]);

function toReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return LIMITS.get(code) ?? message;
}

/** Reloads a folder. If that fails, logs the reason; what was in force stays. */
export async function reloadFolder({ content, reload }: WatchedFolder, log: Log): Promise<void> {
  try {
    await reload();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    log(`the ${content} stay as they were: ${message}`);
    if (error instanceof SetupError) for (const mistake of error.mistakes) log(`  ${mistake}`);
  }
}
