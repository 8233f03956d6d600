/**
 * Reading and writing of files that other processes may touch: regular files only, bounded, with safe permissions.
 *
 * It knows nothing about what the files contain.
 * Begin with `safe-files.ts`.
 */
export { KEY_FILE_BYTES, readEdKey, readOrMakeKey } from './key-file.ts';
export { errorCode, findFile, makeFolder, moveToNewFile, RefusedPath, readRegularFile, refuseSpecial } from './safe-files.ts';
