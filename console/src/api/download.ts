/** Files that the service streams. */
import { sendAuthorized } from './client.ts';
import { readProblem } from './problem.ts';

/** A file to download. */
export interface Download {
  readonly url: URL;
  /** The name to save the file under. */
  readonly name: string;
  readonly method?: 'GET' | 'POST';
  readonly body?: object;
  /** Receives the number of bytes that have arrived. */
  onBytes?(bytes: number): void;
}

/** Downloads a file and saves it. @throws RequestError if the service refuses it, or if the file ends early */
export async function downloadFile({ url, name, method = 'GET', body, onBytes }: Download): Promise<void> {
  const content = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await sendAuthorized(new Request(url, { method, ...content }));
  if (!response.ok || response.body === null) throw await readProblem(response);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    bytes += value.byteLength;
    onBytes?.(bytes);
  }
  saveFile(new Blob(pieces, { type: response.headers.get('content-type') ?? 'application/octet-stream' }), name);
}

/** Saves a file under a name. */
export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
