import type { CaseResult, PolicyTestCase, TestRun } from './policy-test.ts';
import { ANONYMOUS } from './policy-test-schema.ts';
import { printExplanation } from './print-trace.ts';
import { withNames } from './test-ids.ts';

/** The names of users and records, by id. */
type NamesById = ReadonlyMap<string, string>;

/** Maximum number of untested rules that are printed. */
const MAX_UNTESTED = 20;

/** Prints the results of tests: each failed case with its explanation, the rules that decided no case, and a summary. */
export function printTestRun({ files, cases, failed, rules, untested }: TestRun): readonly string[] {
  const failures = files.flatMap(({ file, results, names }) => {
    const failed = results.filter(({ passed }) => !passed);
    const lines = failed.flatMap((result) => printFailure(result, names));
    return lines.length === 0 ? [] : [file, ...lines.map((line) => `  ${line}`), ''];
  });
  const shown = untested
    .slice(0, MAX_UNTESTED)
    .map(({ policy, rule, action, resource }) => `no case is decided by rule "${rule}" of policy "${policy}" (${action} ${resource})`);
  const more = untested.length - MAX_UNTESTED;
  return [
    ...failures,
    ...shown,
    ...(more > 0 ? [`and by ${more} more rules`] : []),
    `${cases - failed} passed, ${failed} failed; ${rules - untested.length} of ${rules} rules decided a case`,
  ];
}

function printFailure(result: CaseResult, names: NamesById): readonly string[] {
  const { case: each } = result;
  return [`${each.test}: ${describeCase(each)}`, ...describeMismatch(result, names).map((line) => `  ${line}`)];
}

/** Describes the difference between the expected and the actual decision, with its explanation. */
export function describeMismatch(
  { case: { expected, shows, reason }, effect, list, explanation, rejected }: CaseResult,
  names: NamesById,
): readonly string[] {
  const actual = `${effect} (${explanation.decision.reason})`;
  const wanted =
    shows !== undefined && expected === 'ALLOW'
      ? `a list of ${nameRecords(shows)}`
      : reason === undefined
        ? expected
        : `${expected} with a reason that contains ${JSON.stringify(reason)}`;
  const differences = [
    ...(list === undefined || list.missing.length === 0 ? [] : [`without ${nameRecords(list.missing)}`]),
    ...(list === undefined || list.unexpected.length === 0 ? [] : [`with ${nameRecords(list.unexpected)}`]),
  ];
  const isEmptyList = shows !== undefined && expected === 'DENY' && effect === 'ALLOW' && list === undefined;
  const listed = isEmptyList ? 'a list that is allowed and shows no record; expect it with []' : `a list ${differences.join(' and ')}`;
  const got = (list === undefined && !isEmptyList) || effect === 'DENY' ? actual : listed;
  const mistakes = rejected.map((mistake) => `the data would be rejected: ${mistake}`);
  const lines = [`expected ${wanted}, got ${got}`, ...printExplanation(explanation), ...mistakes];
  return lines.map((line) => withNames(line, names));
}

function nameRecords(names: readonly string[]): string {
  return names.length === 0 ? 'no record' : names.map((name) => JSON.stringify(name)).join(', ');
}

/** Describes the request of a case: `mia, update Document "plan"`. */
export function describeCase({ user, action, resource, record }: PolicyTestCase): string {
  return `${user ?? ANONYMOUS}, ${action} ${resource.name}${record === undefined ? '' : ` "${record}"`}`;
}

/** Returns the results of tests as plain JSON: the numbers, and each failed case. */
export function toTestSummary({ files, cases, failed, rules, untested }: TestRun): object {
  const failures = files.flatMap(({ file, results, names }) =>
    results
      .filter(({ passed }) => !passed)
      .map(({ case: { test, user, action, resource, record, expected, shows }, effect, list, explanation, rejected }) => ({
        file,
        test,
        user: user ?? null,
        action,
        resource: resource.name,
        record: record ?? null,
        expected,
        effect,
        reason: explanation.decision.reason,
        explanation: printExplanation(explanation).map((line) => withNames(line, names)),
        rejected,
        ...(shows !== undefined && { shows, list: list ?? null }),
      })),
  );
  return { cases, failed, failures, rules, untested };
}
