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
