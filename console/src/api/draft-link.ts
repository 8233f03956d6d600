/** Drafts in links: compressed, in the fragment of an address, which browsers send to no server. */
import type { Draft } from './draft.ts';

/** The beginning of a fragment with a draft. */
const PREFIX = 'draft=';

/** Maximum characters of a fragment. The sign-in keeps the address in its own one, of which a server accepts about twice as many. */
const MAX_FRAGMENT = 8000;

/** Maximum bytes of a draft. A short fragment can be that of a huge text. */
const MAX_BYTES = 4_000_000;

/** Returns true if the fragment of an address has a draft. */
export function hasDraft(fragment: string): boolean {
  return fragment.startsWith(PREFIX);
}

/** Returns the fragment of a link with the draft; undefined if it is too long for one. */
export async function toFragment(draft: Draft): Promise<string | undefined> {
  const bytes = await transform(new TextEncoder().encode(JSON.stringify(draft)), new CompressionStream('deflate-raw'));
  const fragment = `${PREFIX}${toBase64Url(bytes)}`;
  return fragment.length > MAX_FRAGMENT ? undefined : fragment;
}

/** Reads the draft of a fragment. @throws Error for a fragment that has none */
export async function parseFragment(fragment: string): Promise<Draft> {
  const bytes = await transform(fromBase64Url(fragment.slice(PREFIX.length)), new DecompressionStream('deflate-raw'));
  const draft: unknown = JSON.parse(new TextDecoder().decode(bytes));
  if (typeof draft !== 'object' || draft === null || Array.isArray(draft)) throw new TypeError('expected a JSON object');
  return draft;
}

async function transform(bytes: BlobPart, stream: CompressionStream | DecompressionStream): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.length;
    if (length > MAX_BYTES) {
      await reader.cancel();
      throw new RangeError(`expected at most ${MAX_BYTES} bytes`);
    }
    chunks.push(next.value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

function toBase64Url(bytes: Uint8Array): string {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
}
