/**
 * Reading and writing of files that other processes may touch: regular files only, bounded, with safe permissions.
 *
 * This folder does not interpret the content of files.
 * Begin with `safe-files.ts`.
 */
export { readEnvFile } from './env-file.ts';
export { KEY_FILE_BYTES, makeExclusively, readEdKey, readOrMakeKey, replaceFile } from './key-file.ts';
export { errorCode, findFile, makeFolder, moveToNewFile, RefusedPath, readRegularFile, refuseSpecial, syncFolder } from './safe-files.ts';
