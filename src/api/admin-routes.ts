import type { Route } from '../request/index.ts';
import { testEndpoints } from './access-test-endpoint.ts';
import { type AdminParts, toRoute } from './admin-endpoint.ts';
import { assignmentEndpoints } from './assignment-endpoints.ts';
import { decisionEndpoints } from './audit-endpoints.ts';
import { adviceEndpoints } from './finding-endpoints.ts';
import { storageEndpoints } from './migration-endpoints.ts';
import { policyEndpoints } from './policy-endpoints.ts';
import { policyImportEndpoints } from './policy-import.ts';
import { userPermissionsEndpoints } from './user-permissions-endpoint.ts';
import { whoCanEndpoints } from './who-can-endpoint.ts';

/** Every route under `/admin/api`. */
export function createAdminRoutes(parts: AdminParts): readonly Route[] {
  return [
    ...policyEndpoints,
    ...policyImportEndpoints,
    ...adviceEndpoints,
    ...assignmentEndpoints,
    ...testEndpoints,
    ...whoCanEndpoints,
    ...userPermissionsEndpoints,
    ...decisionEndpoints,
    ...storageEndpoints,
  ].map((endpoint) => toRoute(parts, endpoint));
}
