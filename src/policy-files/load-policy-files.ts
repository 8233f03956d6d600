import { existsSync } from 'node:fs';
import { joinMistakes, type ParsePolicyImportOptions, type PolicyImport, parsePolicyImport } from '../authz/policies/index.ts';
import type { Issue } from '../errors.ts';
import { isObject, type Json, ownValue } from '../operators/index.ts';
import { type FilePosition, loadYamlFiles, type Mistake, sortMistakes, type YamlFile } from '../resources/index.ts';
import { isPolicyTestFile } from './load-policy-tests.ts';

/** The policies of a folder, or every mistake in them. */
export interface LoadedPolicies {
  /** Empty if there are mistakes. */
  readonly policies: readonly PolicyImport[];
  readonly mistakes: readonly Mistake[];
  /** The names of the policies, also of those with mistakes; undefined if a file cannot be read. */
  readonly names: readonly string[] | undefined;
  /** Returns the place of a member of the policy with this name. */
  locate(name: string, path: string): FilePlace;
}

/** A file, and a position in it. */
interface FilePlace extends FilePosition {
  readonly file: string;
}

/** A policy in a file. */
interface PolicyInFile {
  readonly raw: YamlFile;
  /** The position of the policy in the file. */
  readonly path: readonly (string | number)[];
  readonly value: Json;
}

/**
 * Loads the policies of a folder: each file contains one policy, or several in a list `policies`, as an export does. A policy has the members of an
 * import, except `users`.
 */
export function loadPolicyFiles(folder: string, options: ParsePolicyImportOptions): LoadedPolicies {
  if (!existsSync(folder)) return { policies: [], mistakes: [], names: [], locate: () => NOWHERE };
  const loaded = loadYamlFiles(folder, { kind: 'policy', accepts: (name) => !isPolicyTestFile(name), refusesSubfolders: true });
  const items = loaded.files.flatMap(policiesOf);
  const parsed = parsePolicyImport({ policies: items.map(({ value }) => value) }, { ...options, inFiles: true });
  const placed = joinMistakes(parsed.issues, findUserAssignments(items)).map((issue) => placeIssue(items, issue));
  const mistakes = sortMistakes([...loaded.mistakes, ...placed]);
  const byName = new Map(items.map((item) => [nameOf(item), item]));
  const names = loaded.mistakes.length > 0 ? undefined : [...byName.keys()].filter((name) => typeof name === 'string');
  const locate = (name: string, path: string): FilePlace => placeOf(byName.get(name), path.split('.'));
  return { policies: mistakes.length === 0 ? parsed.policies : [], mistakes, names, locate };
}

const NOWHERE: FilePlace = { file: 'policies', line: 1, column: 1 };

function placeOf(item: PolicyInFile | undefined, path: readonly string[]): FilePlace {
  if (item === undefined) return NOWHERE;
  return { file: item.raw.file, ...item.raw.locate([...item.path, ...path.filter((part) => part !== '')], 'value') };
}

function policiesOf(raw: YamlFile): readonly PolicyInFile[] {
  const list = isObject(raw.source) ? ownValue(raw.source, 'policies') : undefined;
  if (!Array.isArray(list)) return [{ raw, path: [], value: raw.source }];
  return list.map((value: Json, index) => ({ raw, path: ['policies', index], value }));
}

/** Finds assignments to users. The ids of users differ between databases, so files cannot contain them. */
function findUserAssignments(items: readonly PolicyInFile[]): readonly Issue[] {
  return items.flatMap(({ value }, index) => {
    if (!isObject(value) || ownValue(value, 'users') === undefined) return [];
    const detail =
      'expected only "roles": the ids of users differ between databases, so assign users with "bailiwick policies assign", in the console or by the API';
    return [{ path: `policies.${index}.users`, code: 'unknown', detail }];
  });
}

/** Returns an issue of an import as a mistake of the file that contains the policy. */
function placeIssue(items: readonly PolicyInFile[], { path, code, detail }: Issue): Mistake {
  const [, index = '', ...rest] = path.split('.');
  const item = items[Number(index)];
  if (item === undefined) return { file: items[0]?.raw.file ?? 'policies', path, detail };
  const first = code === 'duplicate' && rest.join('.') === 'name' ? items.find((each) => nameOf(each) === nameOf(item)) : undefined;
  const { file, line } = placeOf(first, ['name']);
  return {
    ...placeOf(item, rest),
    path: rest.join('.'),
    detail: first === undefined ? detail : `${detail}; the first is in ${file}:${line}`,
  };
}

function nameOf({ value }: PolicyInFile): Json | undefined {
  return isObject(value) ? ownValue(value, 'name') : undefined;
}
