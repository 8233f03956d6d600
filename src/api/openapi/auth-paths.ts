import type { JsonObject } from '../../operators/index.ts';
import { objectOf, toOperation } from './openapi-operation.ts';

const OK: JsonObject = objectOf({ success: { const: true }, status: { type: 'string', examples: ['ok'] } });

/** The paths of health, readiness and the OpenAPI document. */
export const servicePaths: JsonObject = {
  '/healthz': {
    get: toOperation({
      id: 'service.health',
      tag: 'Service health',
      summary: 'Returns 200 while the process is running.',
      answers: { 200: { description: 'Alive.', schema: OK } },
      caller: 'public',
    }),
  },
  '/readyz': {
    get: toOperation({
      id: 'service.readiness',
      tag: 'Service health',
      summary: 'Returns 200 if decisions can be recorded, 503 otherwise.',
      answers: { 200: { description: 'Ready.', schema: OK } },
      caller: 'public',
    }),
  },
  '/openapi.json': {
    get: toOperation({
      id: 'service.description',
      tag: 'Service health',
      summary: 'Returns this document with the resources that the caller may read or list.',
      answers: { 200: { description: 'OpenAPI 3.1.', schema: { type: 'object' } } },
      problems: [403],
    }),
  },
};
