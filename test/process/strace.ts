import { spawnSync } from 'node:child_process';

/** True if strace is installed and may trace processes. Tests that need it are skipped otherwise. */
export const canTrace: boolean = spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']).status === 0;
