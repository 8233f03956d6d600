import type { CaseResult, TestRun } from './policy-test.ts';
import { describeCase, describeMismatch } from './print-tests.ts';

/** Renders the results of tests as JUnit XML, which CI systems read: a suite for each file, a case for each request. */
export function toJUnitReport({ files, cases, failed }: TestRun): string {
  const suites = files.map(({ file, results, names, milliseconds }) => {
    const failures = results.filter(({ passed }) => !passed).length;
    const head = `<testsuite name="${escapeXml(file)}" tests="${results.length}" failures="${failures}" time="${(milliseconds / 1000).toFixed(3)}">`;
    return `  ${head}\n${results.map((result) => toCase(result, names)).join('')}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="policies" tests="${cases}" failures="${failed}">\n${suites.join('')}</testsuites>\n`;
}

function toCase(result: CaseResult, names: ReadonlyMap<string, string>): string {
  const { case: each, passed } = result;
  const open = `    <testcase classname="${escapeXml(each.test)}" name="${escapeXml(describeCase(each))}"`;
  if (passed) return `${open}/>\n`;
  const [message = '', ...lines] = describeMismatch(result, names);
  return `${open}>\n      <failure message="${escapeXml(message)}">${escapeXml(lines.join('\n'))}</failure>\n    </testcase>\n`;
}

/** The characters that XML 1.0 cannot contain, not even escaped: most control characters. */
const NOT_IN_XML = /[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(NOT_IN_XML, '\ufffd')
    .replace(/[<>&"\n]/g, (character) => ESCAPES.get(character) ?? character);
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['&', '&amp;'],
  ['"', '&quot;'],
  ['\n', '&#10;'],
]);
