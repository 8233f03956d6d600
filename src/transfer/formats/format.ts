/** How records are written in a file. */
export type Format = 'ndjson' | 'csv' | 'json';

/** What is to be known of a format without reading it. */
export interface FormatInfo {
  /** What it is sent as, and taken as; the first is ours. */
  readonly types: readonly [string, ...string[]];
  /** What files of it are called, behind the point. */
  readonly extensions: readonly string[];
}

/** Every format by name; a Map, so that `constructor` is none. */
export const FORMATS: ReadonlyMap<string, FormatInfo & { readonly name: Format }> = new Map(
  (
    [
      { name: 'ndjson', types: ['application/x-ndjson', 'application/ndjson', 'application/jsonl'], extensions: ['ndjson', 'jsonl'] },
      { name: 'csv', types: ['text/csv'], extensions: ['csv', 'tsv'] },
      { name: 'json', types: ['application/json'], extensions: ['json'] },
    ] as const
  ).map((format) => [format.name, format]),
);

/** The format of a media type, its parameters left aside: of `text/csv; charset=utf-8` that of CSV. */
export function formatOfType(mediaType: string | undefined): Format | undefined {
  const type = mediaType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return [...FORMATS.values()].find(({ types }) => (types as readonly string[]).includes(type))?.name;
}
