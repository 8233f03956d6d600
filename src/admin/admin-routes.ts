import type { Route } from '../request/index.ts';
import { testEndpoints } from './access-test.ts';
import { adviceEndpoints } from './advice.ts';
import { assignmentEndpoints } from './assignments.ts';
import { decisionEndpoints } from './decisions.ts';
import { type AdminParts, toRoute } from './endpoint.ts';
import { policyImportEndpoints } from './import-policies.ts';
import { policyEndpoints } from './policies.ts';
import { storageEndpoints } from './storage.ts';
import { userPermissionsEndpoints } from './user-permissions.ts';
import { whoCanEndpoints } from './who-can.ts';

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
