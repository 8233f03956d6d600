/** The page of all endpoints, made from the OpenAPI document of the newsroom example, in which Article stands for every resource. */
import { fileURLToPath } from 'node:url';
import { createApiDocument } from '../src/api/api-document.ts';
import { documentEndpoint } from '../src/api/openapi-endpoint.ts';
import { toRequestLimits } from '../src/component-options.ts';
import { parseConfig } from '../src/config/index.ts';
import { HTTP_ENDPOINTS } from '../src/http/index.ts';
import { isObject, type Json, type JsonObject } from '../src/operators/index.ts';
import { loadProject } from '../src/resources/system/index.ts';
import { code, page, table } from './markdown.ts';
import { resolveReference } from './openapi-references.ts';

const RESOURCE = 'Article';

/** Renders the page. */
export function endpointsPage(): string {
  const document = createDocument();
  const groups = (document['tags'] as readonly JsonObject[]).map(({ name, description }) => {
    const title = name === RESOURCE ? 'Records' : String(name);
    const about = name === RESOURCE ? '`:resource` is the name of a resource.' : String(description ?? '');
    const operations = operationsOf(document).filter(({ operation }) => (operation['tags'] as readonly Json[])[0] === name);
    return [`## ${title}`, about, ...operations.map((each) => renderOperation(document, each))].join('\n\n');
  });
  const intro =
    '`GET /openapi.json` returns this description with the fields of your resources, for generators of clients. ' +
    'Requests with unknown parameters or members are refused. [Errors](errors.md) lists the codes of problems and mistakes.';
  return page('Endpoints', [intro, ...groups]);
}

function createDocument(): JsonObject {
  const { definitions } = loadProject(fileURLToPath(new URL('../examples/newsroom/resources', import.meta.url)));
  const limits = toRequestLimits(parseConfig({}));
  return createApiDocument({ definitions, visible: [RESOURCE], limits, hasSetup: true, others: [...HTTP_ENDPOINTS, documentEndpoint] });
}

interface DocumentedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
}

function operationsOf(document: JsonObject): readonly DocumentedOperation[] {
  return Object.entries(document['paths'] as JsonObject).flatMap(([path, item]) =>
    Object.entries(item as JsonObject).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path.replace(`/api/${RESOURCE}`, '/api/:resource').replaceAll(/\{(\w+)\}/g, ':$1'),
      operation: operation as JsonObject,
    })),
  );
}

function renderOperation(document: JsonObject, { method, path, operation }: DocumentedOperation): string {
  const parameters = ((operation['parameters'] ?? []) as readonly Json[]).map((each) => resolveReference(document, each));
  const rows = [
    ...parameters.map((parameter) =>
      toRow(
        document,
        { name: String(parameter['name']), where: String(parameter['in']), isRequired: parameter['required'] === true },
        {
          ...resolveReference(document, parameter['schema'] as Json),
          description: parameter['description'] ?? '',
        },
      ),
    ),
    ...bodyRows(document, operation),
  ];
  const answers = Object.entries(operation['responses'] as JsonObject).filter(([status]) => status < '300');
  const problems = Object.keys(operation['responses'] as JsonObject).filter((status) => status >= '400' && !EVERYWHERE.has(status));
  const outcome = answers
    .map(([status, answer]) => `${status}: ${String(resolveReference(document, answer as Json)['description'])}`)
    .join(' ');
  return [
    `### ${method} ${path}`,
    [String(operation['summary']), operation['description']].filter((text) => text !== undefined).join('\n\n'),
    ...(rows.length === 0 ? [] : [table(['name', 'in', 'type', 'description'], rows)]),
    `${outcome}${problems.length === 0 ? '' : ` Problems: ${problems.join(', ')}.`}`,
  ].join('\n\n');
}

/** Statuses that every endpoint may return. */
const EVERYWHERE: ReadonlySet<string> = new Set(['400', '401', '405', '408', '413', '415', '417', '421', '429', '500', '503']);

function bodyRows(document: JsonObject, operation: JsonObject): readonly (readonly string[])[] {
  const content = (operation['requestBody'] as JsonObject | undefined)?.['content'] as JsonObject | undefined;
  const given = (content?.['application/json'] as JsonObject | undefined)?.['schema'] as Json | undefined;
  if (given === undefined) return [];
  if (isRecordSchema(given)) return [['', 'body', 'object', 'The fields of the record.']];
  const schema = resolveReference(document, given);
  const variants = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as readonly Json[]) : [schema];
  const own = variants.map((each) => resolveReference(document, each)).find((each) => isObject(each['properties'] as Json)) ?? {};
  const required = (own['required'] ?? []) as readonly string[];
  return Object.entries((own['properties'] ?? {}) as JsonObject).map(([name, property]) =>
    toRow(document, { name, where: 'body', isRequired: required.includes(name) }, property as JsonObject),
  );
}

function isRecordSchema(schema: Json): boolean {
  return isObject(schema) && String(schema['$ref'] ?? '').startsWith(`#/components/schemas/${RESOURCE}.`);
}

interface Member {
  readonly name: string;
  readonly where: string;
  readonly isRequired: boolean;
}

function toRow(document: JsonObject, { name, where, isRequired }: Member, schema: JsonObject): readonly string[] {
  const { description } = { ...resolveReference(document, schema), ...schema };
  return [`${code(name)}${isRequired ? ' (required)' : ''}`, where, typeOf(document, schema), String(description ?? '')];
}

function typeOf(document: JsonObject, given: JsonObject): string {
  const schema = resolveReference(document, given);
  const { type, enum: values, items, anyOf, oneOf, minimum, maximum } = schema;
  if (Array.isArray(values)) return values.map((value) => code(String(value))).join(', ');
  const variants = (anyOf ?? oneOf) as readonly JsonObject[] | undefined;
  if (variants !== undefined && type === undefined) return [...new Set(variants.map((each) => typeOf(document, each)))].join(' or ');
  if (type === 'array' && isObject(items as Json)) return `array of ${typeOf(document, items as JsonObject)}`;
  const bounds = typeof maximum === 'number' ? `, ${typeof minimum === 'number' ? `${minimum} to ` : 'at most '}${maximum}` : '';
  return `${[type ?? 'any'].flat().join(' or ')}${bounds}`;
}
