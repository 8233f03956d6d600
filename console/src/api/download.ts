/** Files that the service streams. */
import { exportTexts } from '../texts/export.ts';
import { sendAuthorized } from './client.ts';
import { RequestError, readProblem } from './problem.ts';

/** A file to download. */
export interface Download {
  readonly url: URL;
  readonly method?: 'GET' | 'POST';
  readonly body?: object;
  readonly signal?: AbortSignal;
  /** Receives each part of the file. */
  onBytes?(bytes: Uint8Array): void;
}

/** Bytes that are kept in memory before they become a part of a blob, which the browser can move to the disk. */
const PART_SIZE = 8_000_000;

/** Downloads a file. @throws RequestError if the service refuses it, or if the file ends early */
export async function downloadFile({ url, method = 'GET', body, signal, onBytes }: Download): Promise<Blob> {
  const content = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await sendAuthorized(new Request(url, { method, ...content, ...(signal && { signal }) }));
  if (!response.ok || response.body === null) throw await readProblem(response);
  const parts: Blob[] = [];
  let pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read().catch(refuseIncomplete);
    if (done) break;
    onBytes?.(value);
    pieces.push(value);
    size += value.byteLength;
    if (size < PART_SIZE) continue;
    parts.push(new Blob(pieces));
    [pieces, size] = [[], 0];
  }
  return new Blob([...parts, ...pieces], { type: response.headers.get('content-type') ?? 'application/octet-stream' });
}

/** The browser says only that the connection has ended. */
function refuseIncomplete(): never {
  throw new RequestError({ ...exportTexts.incomplete, status: 0, code: 'INCOMPLETE' });
}

/** Saves a file under a name. */
export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
