import type { EndpointDescription } from '../request/index.ts';
import { HEALTH_ENDPOINTS } from './health.ts';
import { SCHEMA_ENDPOINT } from './schema-files.ts';

/** The endpoints that the server serves itself. */
export const HTTP_ENDPOINTS: readonly EndpointDescription[] = [...HEALTH_ENDPOINTS, SCHEMA_ENDPOINT];
