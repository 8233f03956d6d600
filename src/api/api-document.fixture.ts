/** For the tests of this folder: the OpenAPI document of the newsroom example. */
import { fileURLToPath } from 'node:url';
import { parseConfig } from '../config/config.ts';
import type { JsonObject } from '../operators/index.ts';
import { loadProject } from '../resources/system/index.ts';
import { createApiDocument } from './api-document.ts';
import { documentEndpoint } from './openapi-endpoint.ts';

/** The definitions of the newsroom example. */
export const { definitions } = loadProject(fileURLToPath(new URL('../../examples/newsroom/resources', import.meta.url)));

/** Creates the document with these resources; with all if no names are given. */
export function createNewsroomDocument(...visible: readonly string[]): JsonObject {
  const limits = parseConfig({ flags: {}, env: {} });
  return createApiDocument({ definitions, limits, hasSetup: true, others: [documentEndpoint], ...(visible.length > 0 && { visible }) });
}

/** An operation of a document. */
export interface ListedOperation {
  /** Method and path: `GET /api/Article`. */
  readonly address: string;
  readonly operation: JsonObject;
}

/** Returns the operations of a document. */
export function listOperations({ paths }: JsonObject): readonly ListedOperation[] {
  return Object.entries(paths as Readonly<Record<string, JsonObject>>).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ address: `${method.toUpperCase()} ${path}`, operation: operation as JsonObject })),
  );
}
