import { parseJson } from './strict-json.ts';

/** Parses a JSON object; undefined for any other text. An empty text is an empty object. */
export function parseJsonObject(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined || text.trim() === '') return {};
  try {
    const value = parseJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
