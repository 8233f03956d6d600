import { Problem } from '../errors.ts';

const MAX_TAGS = 20;

/** `"3"`, and `W/"3"`, which is what a compressing proxy makes of it: the tag names a version, not bytes, so it means the same. */
const TAG = /^(?:W\/)?"([1-9]\d{0,14})"$/;

/**
 * Reads an If-Match header: `*`, or a list of the ETags that answers carried.
 *
 * @throws Problem REQUEST_MALFORMED
 */
export function readIfMatch(header: string | undefined): readonly number[] | '*' | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return '*';
  const tags = header.split(',', MAX_TAGS + 1);
  const versions = tags.map((tag) => TAG.exec(tag.trim())?.[1]);
  if (tags.length > MAX_TAGS || versions.includes(undefined)) {
    throw new Problem('REQUEST_MALFORMED', `expected If-Match to be * or up to ${MAX_TAGS} ETags such as "3"`);
  }
  return versions.map(Number);
}

/** The stored version of an object that is about to change, and the If-Match header. */
export interface Precondition {
  readonly ifMatch: readonly number[] | '*' | undefined;
  /** The stored version; undefined if nothing is stored. */
  readonly version: number | undefined;
  /** The kind of object, for messages: `record` or `policy`. */
  readonly what: string;
  readonly setting: 'optional' | 'required';
}

/**
 * Refuses a change if the stored version is not the one in If-Match.
 *
 * @throws Problem RECORD_VERSION_REQUIRED, RECORD_VERSION
 */
export function checkIfMatch({ ifMatch, version, what, setting }: Precondition): void {
  if (ifMatch === undefined && setting === 'required')
    throw new Problem('RECORD_VERSION_REQUIRED', 'expected If-Match with the ETag of the version to change, none was given');
  if (ifMatch === undefined) return;
  if (version === undefined) throw new Problem('RECORD_VERSION', `there is no ${what} here, and If-Match names one`);
  if (ifMatch === '*' || ifMatch.includes(version)) return;
  throw new Problem('RECORD_VERSION', `the ${what} is at version ${version}, If-Match names ${ifMatch.join(', ')}`);
}
