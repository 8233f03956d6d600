import type { Json, JsonObject, Kind } from '../operators/index.ts';
import type { Resource } from '../resource/index.ts';

/** What each value of `request.…` compares as; `request.data` is whatever was sent. */
export const REQUEST_KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['method', 'text'],
  ['path', 'text'],
  ['ip', 'text'],
  ['action', 'text'],
]);

/** What a request sends, without the secrets in it: what conditions read ends in traces and on the record. */
export function withoutSecrets(resource: Resource, data: Json | undefined): Json | undefined {
  if (typeof data !== 'object' || data === null) return data;
  const secret = new Set([...resource.fields.values()].filter((field) => field.writeOnly).map((field) => field.name));
  if (secret.size === 0) return data;
  if (Array.isArray(data)) return data.map((item: Json) => withoutSecrets(resource, item) ?? null);
  return Object.fromEntries(Object.entries(data as JsonObject).filter(([name]) => !secret.has(name)));
}
