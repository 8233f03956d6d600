import { Problem } from '../errors.ts';
import { describeValue, type Json } from '../operators/index.ts';
import type { Mistakes } from './request-mistakes.ts';

/** A query string as a tree: `where[age][gt]=3&limit=5`. Maps: names from outside never meet an object. */
export type QueryTree = ReadonlyMap<string, QueryNode>;

/** A value, or the values under the names in brackets. */
export type QueryNode = string | QueryTree;

/** Bounds on a query string. */
export interface QueryLimits {
  readonly parameters: number;
  /** Names in one key: `where[age][gt]` has three. */
  readonly depth: number;
  /** Characters of a decoded key. */
  readonly keyLength: number;
  /** Characters of a decoded value. */
  readonly valueLength: number;
}

const LIMITS: QueryLimits = { parameters: 100, depth: 3, keyLength: 256, valueLength: 8192 };

/** `where[age][gt]`: a name, then names in brackets. */
const KEY = /^([^[\]]+)((?:\[[^[\]]+\])*)$/;

type Branch = Map<string, string | Branch>;

/**
 * Reads a query string (without its `?`) into a tree. Nothing is guessed: a key given twice, a key that is a value
 * and a group at once, and brackets that do not match are refused.
 *
 * @throws Problem REQUEST_PARAMETER, or REQUEST_MALFORMED for broken percent-encoding.
 */
export function parseQuery(text: string, limits: QueryLimits = LIMITS): QueryTree {
  const root: Branch = new Map();
  const parameters = text.split('&').filter((parameter) => parameter !== '');
  if (parameters.length > limits.parameters) throw refusal(`expected at most ${limits.parameters} query parameters, more were given`);
  for (const parameter of parameters) {
    const equals = parameter.indexOf('=');
    const key = decode(equals === -1 ? parameter : parameter.slice(0, equals));
    const value = equals === -1 ? '' : decode(parameter.slice(equals + 1));
    if (value.length > limits.valueLength)
      throw refusal(`expected values of at most ${limits.valueLength} characters, ${value.length} were given`);
    plant(root, readKey(key, limits), value);
  }
  return root;
}

/** The value of a parameter; where it has names in brackets, as `limit[…]=`, something that no reader accepts. */
export function textAt(query: QueryTree, name: string): Json | undefined {
  const node = query.get(name);
  return node === undefined || typeof node === 'string' ? node : GROUP;
}

const GROUP: Json = Object.freeze({});

function readKey(key: string, limits: QueryLimits): readonly string[] {
  if (key.length > limits.keyLength) throw refusal(`expected names of at most ${limits.keyLength} characters, ${key.length} were given`);
  const [, first, brackets] = KEY.exec(key) ?? [];
  if (first === undefined || brackets === undefined) throw refusal(`expected a name such as limit or where[field], "${key}" was given`);
  const names = [first, ...(brackets === '' ? [] : brackets.slice(1, -1).split(']['))];
  if (names.length > limits.depth) throw refusal(`expected at most ${limits.depth} names in a parameter, "${key}" was given`);
  return names;
}

function plant(root: Branch, names: readonly string[], value: string): void {
  let branch = root;
  for (const name of names.slice(0, -1)) {
    const next = branch.get(name) ?? new Map<string, string | Branch>();
    if (typeof next === 'string') throw twice(names);
    branch.set(name, next);
    branch = next;
  }
  const last = names.at(-1) ?? '';
  if (branch.has(last)) throw twice(names);
  branch.set(last, value);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    throw new Problem('REQUEST_MALFORMED', 'expected percent-encoded UTF-8 in the query string', { cause: error });
  }
}

function twice([first, ...others]: readonly string[]): Problem {
  return refusal(`expected each query parameter once, "${first}${others.map((name) => `[${name}]`).join('')}" was given twice`);
}

function refusal(detail: string): Problem {
  return new Problem('REQUEST_PARAMETER', detail);
}

/** What is given of a switch, and what it is where nothing is. */
export interface GivenSwitch {
  readonly given: Json | undefined;
  readonly otherwise: boolean;
}

/** Reads true or false, noting anything else. */
export function parseBoolean(name: string, { given, otherwise }: GivenSwitch, mistakes: Mistakes): boolean {
  if (given === undefined) return otherwise;
  if (typeof given === 'boolean') return given;
  mistakes.add(name, 'type', `expected true or false, given ${describeValue(given)}`);
  return false;
}

/** A query's text as the boolean that it plainly is, and otherwise as it stands. */
export function toBoolean(text: Json | undefined): Json | undefined {
  return text === 'true' || text === 'false' ? text === 'true' : text;
}
