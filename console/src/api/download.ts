/** Files that the service streams. */
import { sendAuthorized } from './client.ts';
import { readProblem } from './problem.ts';

/** Downloads a file and saves it under a name. Reports the received bytes. @throws RequestError if the service refuses it, or if the file ends early */
export async function downloadFile(url: URL, name: string, onBytes: (bytes: number) => void): Promise<void> {
  const response = await sendAuthorized(new Request(url));
  if (!response.ok || response.body === null) throw await readProblem(response);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    bytes += value.byteLength;
    onBytes(bytes);
  }
  save(new Blob(pieces, { type: response.headers.get('content-type') ?? 'application/octet-stream' }), name);
}

function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
