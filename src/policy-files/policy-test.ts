import type { ActionName, RuleAction } from '../actions.ts';
import type { Explanation } from '../authz/decision/index.ts';
import type { Effect } from '../authz/policies/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import type { Resource } from '../resources/index.ts';

/** A user or record that a test file begins with. */
export interface Fixture {
  readonly resource: Resource;
  readonly id: string;
  /** The name in the file. */
  readonly name: string;
  /** Canonical values; a field without a value is absent. */
  readonly values: JsonObject;
}

/** One request of a test, and the effect that it must have. */
export interface PolicyTestCase {
  /** The name of the test. */
  readonly test: string;
  /** The name of the user; undefined for a request without a token. */
  readonly user: string | undefined;
  readonly resource: Resource;
  /** The action as written; `decides` is the action that rules decide. */
  readonly action: ActionName;
  readonly decides: RuleAction;
  /** The name of the record. */
  readonly record: string | undefined;
  readonly data: Json | undefined;
  /** Milliseconds since 1970; undefined for the current time. */
  readonly now: number | undefined;
  readonly ip: string | undefined;
  /** The method and the path of the request; undefined for those of the endpoint of the action. */
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly expected: Effect;
  /** The names of the records that a list of all records must show. Absent for a request about one record. */
  readonly shows?: readonly string[] | undefined;
  /** Text that the reason must contain. */
  readonly reason: string | undefined;
}

/** A test file: the users and records that it begins with, and its cases. */
export interface PolicyTestFile {
  /** The path with its folder: `policies/articles.test.yaml`. */
  readonly file: string;
  readonly fixtures: readonly Fixture[];
  /** The time of the file, in milliseconds since 1970; undefined for the current time. */
  readonly now: number | undefined;
  /** The names of the policies that are assigned to users, by the name of the user. */
  readonly assignments: ReadonlyMap<string, readonly string[]>;
  readonly cases: readonly PolicyTestCase[];
}

/** A difference between the records that a list shows and those that it must show. */
export interface ListMismatch {
  /** Names of expected records that the list does not show. */
  readonly missing: readonly string[];
  /** Names of records that the list shows, and must not. */
  readonly unexpected: readonly string[];
}

/** The decision of a case. */
export interface CaseResult {
  readonly case: PolicyTestCase;
  readonly passed: boolean;
  readonly effect: Effect;
  /** Present if a list shows other records than it must. The explanation is then that of the first of them. */
  readonly list?: ListMismatch | undefined;
  readonly explanation: Explanation;
  /** Mistakes in the data of the request, which the service would reject even if policies allow it. */
  readonly rejected: readonly string[];
}

/** The results of one test file. */
export interface FileResult {
  readonly file: string;
  readonly results: readonly CaseResult[];
  /** The names of the users and records, by id. */
  readonly names: ReadonlyMap<string, string>;
  readonly milliseconds: number;
}

/** A rule that no case decided by. */
export interface UntestedRule {
  readonly policy: string;
  /** The description of the rule; otherwise its action and resource. */
  readonly rule: string;
  readonly action: string;
  readonly resource: string;
}

/** The results of all test files. */
export interface TestRun {
  readonly files: readonly FileResult[];
  readonly cases: number;
  readonly failed: number;
  /** Active rules, and those among them that decided no case. */
  readonly rules: number;
  readonly untested: readonly UntestedRule[];
}
