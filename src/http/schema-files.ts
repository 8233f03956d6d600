/** The JSON Schemas of the files of a project, at `/schemas/`: those that the package contains for editors. They contain nothing of a project. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { type EndpointDescription, matchesIfNoneMatch, NO_CONTENT } from '../request/index.ts';
import { Input, OneOf, Type } from '../schemas/index.ts';

/** The names of the schemas. No other file of the folder is served. */
export const SCHEMA_FILES = ['definition.schema.json', 'policy.schema.json', 'policy-test.schema.json'] as const;

/** The description of the endpoint for the OpenAPI document. */
export const SCHEMA_ENDPOINT: EndpointDescription = {
  method: 'GET',
  path: '/schemas/:name',
  id: 'service.schema',
  tag: 'Service health',
  summary: 'Returns the JSON Schema of definitions, policies or policy tests in files, for editors.',
  description: 'The response has an `ETag`, and is 304 for a request with the same `If-None-Match`. Not served with `docs` set to `off`.',
  params: Input({ name: OneOf(SCHEMA_FILES, { description: 'Name of the schema.' }) }),
  caller: 'public',
  ifNoneMatch: true,
  answers: {
    200: {
      description: 'The schema, in the dialect 2020-12.',
      schema: NO_CONTENT,
      files: { 'application/schema+json': Type.Object({ $id: Type.String(), $schema: Type.String() }, { additionalProperties: true }) },
      headers: ['ETag'],
    },
  },
  problems: [404],
};

/** Seconds for which clients keep a schema: it changes only with the version of the program. */
const MAX_AGE = 3600;

/** Adds the schemas in a folder to a server. A file is read when it is first requested. */
export function serveSchemas(server: FastifyInstance, folder: URL): void {
  for (const name of SCHEMA_FILES) {
    let loading: Promise<SchemaFile> | undefined;
    server.get(`/schemas/${name}`, async (request, reply) => {
      loading ??= loadSchema(new URL(name, folder));
      const { text, etag } = await loading;
      reply.header('etag', etag).header('cache-control', `public, max-age=${MAX_AGE}`);
      if (matchesIfNoneMatch(request.headers['if-none-match'], etag)) return reply.code(304).send();
      return reply.type('application/schema+json; charset=utf-8').send(text);
    });
  }
}

interface SchemaFile {
  readonly text: string;
  readonly etag: string;
}

async function loadSchema(file: URL): Promise<SchemaFile> {
  const text = await readFile(file, 'utf8');
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url')}"` };
}
