import { Problem } from '../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import type { HttpRequest } from './http-messages.ts';
import { parseBoolean, textAt, toBoolean } from './query-string.ts';
import { createMistakes, type Mistakes } from './request-mistakes.ts';

/** How an import goes about its rows. */
export interface ImportOptions {
  /** upsert: a row whose key a stored record has changes that record. */
  readonly mode: 'create' | 'upsert';
  /** Of an upsert. */
  readonly key: string | undefined;
  /** Decide and check everything, store nothing. */
  readonly dryRun: boolean;
  /** What becomes of the rows behind one that is rejected. */
  readonly onError: 'stop' | 'skip';
  /** All rows or none. */
  readonly atomic: boolean;
}

/** How cells of CSV are written. */
export interface CellStyle {
  readonly delimiter: string;
  /** Whether an apostrophe keeps spreadsheets from reading a text as a formula. */
  readonly guardFormulas: boolean;
}

/** An import whose rows are read as they come: how it goes about them, and how they are written. */
export type ImportQuery = ImportOptions & CellStyle;

/** How an export is written; without a format, as a page of a list. */
export interface ExportQuery extends CellStyle {
  readonly format: string | undefined;
}

const IMPORT_NAMES = ['mode', 'key', 'dryRun', 'onError', 'atomic'] as const;
const CELL_NAMES = ['delimiter', 'escape'] as const;

/** `POST /api/:resource/import?mode=upsert&key=slug` with a file as its body. */
export function parseImportQuery(call: HttpRequest): ImportQuery {
  const mistakes = createMistakes('REQUEST_PARAMETER');
  mistakes.checkNames(call.query.keys(), [...IMPORT_NAMES, ...CELL_NAMES], 'query parameter');
  const given = (name: string): Json | undefined => textAt(call.query, name);
  const query = { ...readOptions((name) => toBoolean(given(name)), false, mistakes), ...readCellStyle(given, mistakes) };
  mistakes.refuse();
  return query;
}

/** An import as a JSON body: its rows, and how to go about them. */
export interface ImportBody {
  readonly options: ImportOptions;
  /** Whether the body says more than its rows. */
  readonly isPlain: boolean;
  /** The body without what `options` has. */
  readonly members: JsonObject;
}

/** `{ data: [...], mode?, key?, dryRun?, onError?, atomic? }`. All or nothing, unless rows are to be skipped or it is said otherwise. */
export function parseImportBody(body: Json | undefined): ImportBody {
  if (!isObject(body))
    throw new Problem('REQUEST_MALFORMED', `expected a JSON object or an array in the body, given ${describeValue(body)}`);
  const mistakes = createMistakes('REQUEST_MALFORMED');
  const options = readOptions((name) => ownValue(body, name), ownValue(body, 'onError') !== 'skip', mistakes);
  mistakes.refuse();
  const isOption = (name: string): boolean => (IMPORT_NAMES as readonly string[]).includes(name);
  const members = Object.fromEntries(Object.entries(body).filter(([name]) => !isOption(name)));
  return { options, isPlain: !Object.keys(body).some(isOption), members };
}

/** `POST /api/:resource/export?format=csv`: how what the body asks for is written. */
export function parseExportQuery(call: HttpRequest, formats: readonly string[]): ExportQuery {
  const mistakes = createMistakes('REQUEST_PARAMETER');
  mistakes.checkNames(call.query.keys(), ['format', ...CELL_NAMES], 'query parameter');
  const given = (name: string): Json | undefined => textAt(call.query, name);
  const query = { format: readOneOf('format', { given: given('format'), known: formats }, mistakes), ...readCellStyle(given, mistakes) };
  mistakes.refuse();
  return query;
}

type Given = (name: string) => Json | undefined;

function readOptions(given: Given, atomicByDefault: boolean, mistakes: Mistakes): ImportOptions {
  const mode = readOneOf('mode', { given: given('mode'), known: ['create', 'upsert'] }, mistakes) ?? 'create';
  const onError = readOneOf('onError', { given: given('onError'), known: ['stop', 'skip'] }, mistakes) ?? 'stop';
  const key = given('key');
  if (key !== undefined && (typeof key !== 'string' || key === ''))
    mistakes.add('key', 'type', `expected the name of a unique field, given ${describeValue(key)}`);
  if (mode === 'upsert' && key === undefined)
    mistakes.add('key', 'required', 'upsert needs key, the unique field that tells records apart');
  if (mode === 'create' && key !== undefined) mistakes.add('key', 'unknown', 'expected key with mode upsert alone');
  const atomic = parseBoolean('atomic', { given: given('atomic'), otherwise: atomicByDefault }, mistakes);
  if (atomic && onError === 'skip') mistakes.add('atomic', 'type', 'expected all or nothing, or rows to be skipped; given both');
  return {
    mode: mode === 'upsert' ? 'upsert' : 'create',
    key: typeof key === 'string' ? key : undefined,
    dryRun: parseBoolean('dryRun', { given: given('dryRun'), otherwise: false }, mistakes),
    onError: onError === 'skip' ? 'skip' : 'stop',
    atomic,
  };
}

const DELIMITERS: ReadonlyMap<Json, string> = new Map([
  [',', ','],
  [';', ';'],
  ['\t', '\t'],
  ['tab', '\t'],
]);

function readCellStyle(given: Given, mistakes: Mistakes): CellStyle {
  const delimiter = DELIMITERS.get(given('delimiter') ?? ',');
  if (delimiter === undefined) mistakes.add('delimiter', 'type', `expected "," or ";" or tab, given ${describeValue(given('delimiter'))}`);
  return {
    delimiter: delimiter ?? ',',
    guardFormulas: parseBoolean('escape', { given: toBoolean(given('escape')), otherwise: true }, mistakes),
  };
}

interface Choice {
  readonly given: Json | undefined;
  readonly known: readonly string[];
}

function readOneOf(name: string, { given, known }: Choice, mistakes: Mistakes): string | undefined {
  if (given === undefined || (typeof given === 'string' && known.includes(given))) return given;
  mistakes.add(name, 'type', `expected ${known.join(' or ')}, given ${describeValue(given)}`);
  return undefined;
}
