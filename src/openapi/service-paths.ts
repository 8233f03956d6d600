import type { JsonObject } from '../operators/index.ts';
import { objectOf, toOperation } from './operation.ts';

const OK: JsonObject = objectOf({ success: { const: true }, status: { type: 'string', examples: ['ok'] } });

/** Addresses for those who operate the service. */
export const servicePaths: JsonObject = {
  '/healthz': {
    get: toOperation({
      id: 'service.health',
      tag: 'Service health',
      summary: 'Says that the process is alive.',
      answers: { 200: { description: 'Alive.', schema: OK } },
      caller: 'public',
    }),
  },
  '/readyz': {
    get: toOperation({
      id: 'service.readiness',
      tag: 'Service health',
      summary: 'Says whether decisions can be recorded: 503 where they cannot.',
      answers: { 200: { description: 'Ready.', schema: OK } },
      caller: 'public',
    }),
  },
  '/openapi.json': {
    get: toOperation({
      id: 'service.description',
      tag: 'Service health',
      summary: 'This document, with the resources that the caller may read or list.',
      answers: { 200: { description: 'OpenAPI 3.1.', schema: { type: 'object' } } },
      problems: [403],
    }),
  },
};
