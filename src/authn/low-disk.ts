import { Problem } from '../errors.ts';

/** The free space of the disk. */
export interface DiskState {
  /** The reason why too little is free; undefined if enough is. */
  readonly fault: string | undefined;
}

/** Returns the problem of a request without a valid token if little disk space is left: that is for audit entries of users. */
export function toLowDiskProblem(disk: DiskState | undefined): Problem | undefined {
  if (disk?.fault === undefined) return undefined;
  return new Problem('STORAGE_UNAVAILABLE', `${disk.fault}; only logins and requests with a token are answered`);
}
