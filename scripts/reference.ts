/**
 * The pages of `docs/reference/`, made from the tables that the program itself runs on. `scripts/docs.ts` writes them,
 * `test/docs.test.ts` fails where they differ from what is written.
 */
import { ACTIONS } from '../src/actions.ts';
import { CEL_FUNCTIONS, CEL_MACROS, CEL_OPERATORS, type CelSyntax, MAX_LEVELS, WITHIN } from '../src/conditions/index.ts';
import { CONFIG_GROUPS, CONFIG_OPTIONS, type ConfigOption } from '../src/config/config.ts';
import { ISSUES, PROBLEMS } from '../src/errors.ts';
import { FIELD_TYPES } from '../src/fields/index.ts';
import { type Json, OPERATORS, type OperatorSample } from '../src/operators/index.ts';
import { policyFileSchema, policyTestSchema } from '../src/policy-files/index.ts';
import { COMMON_OPTIONS, definitionSchema, OPTION_FORMS } from '../src/resources/index.ts';
import { endpointsPage } from './endpoints-page.ts';
import { code, page, plain, table } from './markdown.ts';

/** Every file of the reference: name → content. */
export function renderReference(): ReadonlyMap<string, string> {
  return new Map([
    ['settings.md', settingsPage()],
    ['endpoints.md', endpointsPage()],
    ['errors.md', errorsPage()],
    ['operators.md', operatorsPage()],
    ['expressions.md', expressionsPage()],
    ['fields.md', fieldsPage()],
    ['actions.md', actionsPage()],
    ['definition.schema.json', toJsonFile(definitionSchema())],
    ['policy.schema.json', toJsonFile(policyFileSchema())],
    ['policy-test.schema.json', toJsonFile(policyTestSchema())],
  ]);
}

function toJsonFile(schema: object): string {
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

function settingsPage(): string {
  const groups = [...CONFIG_GROUPS].map(([group, title]) => {
    const settings = [...CONFIG_OPTIONS.values()].filter((setting) => setting.group === group);
    const rows = settings.map((setting) => [
      [setting.flag, setting.env, setting.otherwise]
        .filter((name) => name !== undefined)
        .map(code)
        .join('<br>'),
      describeValue(setting),
      setting.default === undefined ? '' : code(String(setting.default)),
      setting.about,
    ]);
    return `## ${title}\n\n${table(['setting', 'value', 'default', 'what it is'], rows)}`;
  });
  const intro =
    'A flag goes before the environment, the environment before the default. An empty variable counts as absent. ' +
    '`PORT` and `HOST`, which hosting platforms set, count where `BAILIWICK_PORT` and `BAILIWICK_HOST` are absent. ' +
    'A setting that cannot be used ends the program with exit code 2 and one sentence that names it; all wrong ones are listed. ' +
    'A library user gives the same settings by name: `parseConfig({ flags: { port: 0 } })`.';
  return page('Settings', [intro, ...groups]);
}

function describeValue(setting: ConfigOption): string {
  if (setting.range !== undefined) return `number, ${setting.range.join(' to ')}`;
  if (setting.values !== undefined) return setting.values.map(code).join(', ');
  return setting.each === undefined ? 'text' : 'list, with commas';
}

function errorsPage(): string {
  const rows = Object.entries(PROBLEMS).map(([name, { status, title, ...rest }]) => {
    const hint = 'hint' in rest && typeof rest.hint === 'string' ? rest.hint : '';
    return [`<a id="${name}"></a>${code(name)}`, String(status), title, plain(hint)];
  });
  const intro =
    'Every error is `application/problem+json` (RFC 9457): `success` (false), `type`, `title`, `status`, `code`, `detail`, `requestId`, ' +
    'and where they help `hint`, `errors` (each with `path`, `code`, `detail`) and `decisionId`. The code is stable, the words are not. ' +
    'A response may contain a more specific hint than this table. After a 503, its hint says if the change may have been saved.';
  const issues =
    '## Mistakes\n\nEach item of `errors` has one of these codes. The same mistake has the same code at every endpoint, in a query, a body and a file. ' +
    'A failed request of a batch has the code of its problem instead.';
  const issueRows = Object.entries(ISSUES).map(([name, meaning]) => [code(name), meaning]);
  return page('Errors', [intro, table(['code', 'status', 'title', 'hint'], rows), issues, table(['code', 'meaning'], issueRows)]);
}

function operatorsPage(): string {
  const operators = [...OPERATORS.values()];
  const rows = operators.map(({ name, label, summary, kinds, negator }) => [
    `[${code(name)}](#${name.toLowerCase()})`,
    label,
    kinds.join(', '),
    negator === undefined ? '' : code(negator),
    summary,
  ]);
  const examples = operators.map(
    ({ name, summary, samples }) =>
      `### ${name}\n\n${summary}\n\n${table(['actual', 'operand', 'kind', 'result'], samples.map(sampleRow))}`,
  );
  const intro =
    'The operators of policy conditions and of list filters (`where[field][operator]=value`). Each compares the *actual* value, on the left, ' +
    'with the *operand*. The result is true, false or *unknown*: an ALLOW rule applies only on true, a DENY rule on true and on unknown. ' +
    'The examples below run as tests, in memory and in the database.';
  const ancestors =
    `Policy conditions, but not filters, also have ${code(WITHIN.name)} for references to a resource with a [hierarchy](../guides/definitions.md#hierarchies): ` +
    `${WITHIN.summary} It compares at most ${MAX_LEVELS} records ([example](../guides/policies.md#compare-ancestors)).`;
  const all = table(['operator', 'label', 'kinds', 'negation', 'true if'], rows);
  return page('Operators', [intro, all, ancestors, '## Examples', ...examples]);
}

function sampleRow({ actual, expected, kind, itemKind, result }: OperatorSample): readonly string[] {
  const as = itemKind === undefined ? (kind ?? '') : `${kind} of ${itemKind}`;
  return [actual === undefined ? '*missing*' : json(actual), json(expected), as, result === null ? '*unknown*' : String(result)];
}

function expressionsPage(): string {
  const syntaxTable = (of: ReadonlyMap<string, CelSyntax>): string =>
    table(
      ['syntax', 'result'],
      [...of.values()].map(({ form, summary }) => [code(form), summary]),
    );
  const limit = (name: 'expressionLength' | 'expressionDepth'): string => `${CONFIG_OPTIONS.get(name)?.default} (${code(name)})`;
  return page('Expressions', [
    'The expression language of `{ "expression": "…" }` in policies of type CUSTOM: [CEL](https://cel.dev), limited to this page. An expression ' +
      'reads `user`, `resource`, `environment` and `request`, and is validated against the definition when the policy is written. An error, a ' +
      'missing value and a result that is not a boolean are *unknown*, as in other conditions.',
    `## Operators\n\n${syntaxTable(CEL_OPERATORS)}`,
    `## Macros\n\nThe macros of lists are loops. A loop cannot contain another loop or run over its result.\n\n${syntaxTable(CEL_MACROS)}`,
    `## Functions\n\n${syntaxTable(CEL_FUNCTIONS)}`,
    `## Limits\n\nAn expression has at most ${limit('expressionLength')} characters, ${limit('expressionDepth')} levels and 100 levels of brackets. ` +
      'A list of more than 10,000 items counts as missing. An evaluation that reads too many characters and items is unknown. This limit counts ' +
      'characters and items instead of time, so it is the same on every machine.',
  ]);
}

function fieldsPage(): string {
  const types = [...FIELD_TYPES.values()].map(({ name, summary, kind, options, widensTo, example }) => [
    code(name),
    summary,
    kind ?? '*never compared*',
    options.map(code).join(', '),
    widensTo.map(code).join(', '),
    json(example),
  ]);
  const options = Object.entries(OPTION_FORMS)
    .filter(([name]) => name !== 'guarded')
    .map(([name, { summary, expected }]) => [code(name), expected, summary]);
  return page('Field types', [
    'The types and options of `fields` in a definition. [definition.schema.json](definition.schema.json) is the same as a JSON Schema for editors.',
    table(['type', 'values', 'kind', 'options', 'widens to', 'example'], types),
    `## Options\n\nEvery type has ${COMMON_OPTIONS.map(code).join(', ')}. The table above lists the other options of each type.`,
    table(['option', 'value', 'meaning'], options),
  ]);
}

function actionsPage(): string {
  const rows = [...ACTIONS.values()].map(({ name, decides, alsoDecides, takes, summary }) => [
    code(name),
    [decides, ...(alsoDecides === undefined ? [] : [alsoDecides])].map(code).join(', '),
    takes.map(code).join(', '),
    summary,
  ]);
  return page('Actions', [
    '`POST /api/:resource/:action` takes every action by name, with a JSON body of the members named here. Each verb route is one of these actions. ' +
      'The second column is the action that rules decide.',
    table(['action', 'decides', 'members', 'what it does'], rows),
  ]);
}

function json(value: Json): string {
  return code(JSON.stringify(value));
}

/** A code span with as many backticks around it as it takes. */
