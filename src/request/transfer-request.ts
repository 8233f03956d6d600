import { Problem } from '../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import type { HttpRequest } from './http-messages.ts';
import { getParameter, parseBoolean, toBoolean } from './query-string.ts';
import { createMistakes, type Mistakes } from './request-mistakes.ts';

/** Options of an import. */
export interface ImportOptions {
  /** `upsert`: a row updates the stored record that has the same key. */
  readonly mode: 'create' | 'upsert';
  /** For an upsert: the unique field that identifies the stored record. */
  readonly key: string | undefined;
  /** True if the rows are decided and validated but not stored. */
  readonly dryRun: boolean;
  /** `stop`: the import ends at the first rejected row; `skip`: the import continues with the next row. */
  readonly onError: 'stop' | 'skip';
  /** True if a rejected row rolls back all rows. */
  readonly atomic: boolean;
}

/** Options of CSV cells. */
export interface CellStyle {
  readonly delimiter: string;
  /** True if an apostrophe is written before texts that spreadsheets would run as formulas. */
  readonly guardFormulas: boolean;
}

/** Options of an import whose body is a file. */
export type ImportQuery = ImportOptions & CellStyle;

/** Options of an export. Without a format, the response is a page of a list. */
export interface ExportQuery extends CellStyle {
  readonly format: string | undefined;
}

const IMPORT_NAMES = ['mode', 'key', 'dryRun', 'onError', 'atomic'] as const;
const CELL_NAMES = ['delimiter', 'escape'] as const;

/** Parses the query of `POST /api/:resource/import?mode=upsert&key=slug` with a file as its body. */
export function parseImportQuery({ query }: HttpRequest): ImportQuery {
  const mistakes = createMistakes('REQUEST_PARAMETER');
  mistakes.addUnknown(query.keys(), [...IMPORT_NAMES, ...CELL_NAMES], 'query parameter');
  const given = (name: string): Json | undefined => getParameter(query, name);
  const options = { ...parseImportOptions((name) => toBoolean(given(name)), false, mistakes), ...parseCellStyle(given, mistakes) };
  mistakes.throwIfAny();
  return options;
}

/** A JSON body of an import. */
export interface ImportBody {
  readonly options: ImportOptions;
  /** True if the body has no options, only rows. */
  readonly isPlain: boolean;
  /** The body without its options. */
  readonly members: JsonObject;
}

/** Parses `{ data: [...], mode?, key?, dryRun?, onError?, atomic? }`. `atomic` defaults to true, and to false with `onError: 'skip'`. */
export function parseImportBody(body: Json | undefined): ImportBody {
  if (!isObject(body))
    throw new Problem('REQUEST_MALFORMED', `expected a JSON object or an array in the body, given ${describeValue(body)}`);
  const mistakes = createMistakes('REQUEST_MALFORMED');
  const options = parseImportOptions((name) => ownValue(body, name), ownValue(body, 'onError') !== 'skip', mistakes);
  mistakes.throwIfAny();
  const isOption = (name: string): boolean => (IMPORT_NAMES as readonly string[]).includes(name);
  const members = Object.fromEntries(Object.entries(body).filter(([name]) => !isOption(name)));
  return { options, isPlain: !Object.keys(body).some(isOption), members };
}

/** Parses the query of `POST /api/:resource/export?format=csv`. */
export function parseExportQuery({ query }: HttpRequest, formats: readonly string[]): ExportQuery {
  const mistakes = createMistakes('REQUEST_PARAMETER');
  mistakes.addUnknown(query.keys(), ['format', ...CELL_NAMES], 'query parameter');
  const given = (name: string): Json | undefined => getParameter(query, name);
  const options = {
    format: parseChoice('format', { given: given('format'), known: formats }, mistakes),
    ...parseCellStyle(given, mistakes),
  };
  mistakes.throwIfAny();
  return options;
}

type GetMember = (name: string) => Json | undefined;

function parseImportOptions(given: GetMember, atomicByDefault: boolean, mistakes: Mistakes): ImportOptions {
  const mode = parseChoice('mode', { given: given('mode'), known: ['create', 'upsert'] }, mistakes) ?? 'create';
  const onError = parseChoice('onError', { given: given('onError'), known: ['stop', 'skip'] }, mistakes) ?? 'stop';
  const key = given('key');
  if (key !== undefined && (typeof key !== 'string' || key === ''))
    mistakes.add('key', 'type', `expected the name of a unique field, given ${describeValue(key)}`);
  if (mode === 'upsert' && key === undefined)
    mistakes.add('key', 'required', 'upsert needs key, the unique field that identifies the record to update');
  if (mode === 'create' && key !== undefined) mistakes.add('key', 'unknown', 'expected key only with mode upsert');
  const atomic = parseBoolean('atomic', { given: given('atomic'), fallback: atomicByDefault }, mistakes);
  if (atomic && onError === 'skip') mistakes.add('atomic', 'conflict', 'expected atomic or onError=skip, both were given');
  return {
    mode: mode === 'upsert' ? 'upsert' : 'create',
    key: typeof key === 'string' ? key : undefined,
    dryRun: parseBoolean('dryRun', { given: given('dryRun'), fallback: false }, mistakes),
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

function parseCellStyle(given: GetMember, mistakes: Mistakes): CellStyle {
  const delimiter = DELIMITERS.get(given('delimiter') ?? ',');
  if (delimiter === undefined) mistakes.add('delimiter', 'enum', `expected "," or ";" or tab, given ${describeValue(given('delimiter'))}`);
  return {
    delimiter: delimiter ?? ',',
    guardFormulas: parseBoolean('escape', { given: toBoolean(given('escape')), fallback: true }, mistakes),
  };
}

interface ChoiceInput {
  readonly given: Json | undefined;
  readonly known: readonly string[];
}

function parseChoice(name: string, { given, known }: ChoiceInput, mistakes: Mistakes): string | undefined {
  if (given === undefined || (typeof given === 'string' && known.includes(given))) return given;
  mistakes.add(name, 'enum', `expected ${known.join(' or ')}, given ${describeValue(given)}`);
  return undefined;
}
