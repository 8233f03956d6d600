import { sendAuthorized } from '../../api/client.ts';
import type { PolicyDifference } from '../../api/policies.ts';
import { readProblem } from '../../api/problem.ts';
import { hasRepeatedName } from '../../components/strict-json.ts';

/** The answer to an import: numbers, and of a dry run the changes. */
export interface ImportAnswer {
  readonly message: string;
  readonly data: {
    readonly created: number;
    readonly updated: number;
    readonly unchanged: number;
    readonly assigned: number;
    readonly changes?: readonly {
      readonly name: string;
      readonly result: 'created' | 'updated';
      readonly differences: readonly PolicyDifference[];
    }[];
  };
}

interface ImportOptions {
  readonly isDryRun: boolean;
  readonly reason?: string | undefined;
}

/** Sends a file to the import. @throws RequestError with every mistake if the service refuses it */
export async function importFile(file: File, { isDryRun, reason }: ImportOptions): Promise<ImportAnswer> {
  const url = new URL('/admin/api/policies/import', location.origin);
  if (isDryRun) url.searchParams.set('dryRun', 'true');
  if (reason !== undefined) url.searchParams.set('reason', reason);
  const text = await file.text();
  const json = toImportBody(text);
  const response = await sendAuthorized(
    new Request(url, {
      method: 'POST',
      headers: { 'content-type': json === undefined ? 'application/x-ndjson' : 'application/json' },
      body: json ?? text,
    }),
  );
  if (!response.ok) throw await readProblem(response);
  return (await response.json()) as ImportAnswer;
}

/** Returns the JSON body of an import; undefined for a text with one policy per line. The whole answer of an export is accepted. */
export function toImportBody(text: string): string | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // The service reports mistakes of lines with their numbers.
    return undefined;
  }
  // The service refuses the text, and its message has the repeated name.
  if (hasRepeatedName(text, body)) return text;
  const data = isObject(body) && isObject(body['data']) ? body['data'] : body;
  // One policy in a file: its only line.
  return isObject(data) && !Array.isArray(data) && data['policies'] === undefined ? JSON.stringify([data]) : JSON.stringify(data);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
