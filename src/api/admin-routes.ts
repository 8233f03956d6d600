import type { Route } from '../request/index.ts';
import { accessTestEndpoints, rolePermissionsEndpoints, userPermissionsEndpoints, whoCanEndpoints } from './access/index.ts';
import { userListEndpoints, userSessionEndpoints } from './accounts/index.ts';
import { type AdminDeps, type AdminEndpoint, toRoute } from './admin/index.ts';
import { assignedPolicyEndpoints, assignmentBatchEndpoints, assignmentEndpoints, assignmentListEndpoints } from './assignments/index.ts';
import { auditEndpoints, decisionCountEndpoints, decisionExportEndpoints, decisionStreamEndpoints } from './decisions/index.ts';
import {
  findingEndpoints,
  policyEndpoints,
  policyHistoryEndpoints,
  policyRollback,
  policySearchEndpoints,
  policyTransferEndpoints,
  policyValidationEndpoints,
} from './policies/index.ts';
import { decisionReplayEndpoints, policyPreviewEndpoints } from './preview/index.ts';
import { catalogueEndpoints, migrationEndpoints, systemEndpoints } from './system/index.ts';

/** All endpoints under `/admin/api`. */
export const adminEndpoints: readonly AdminEndpoint[] = [
  ...policySearchEndpoints,
  ...policyEndpoints,
  ...policyHistoryEndpoints,
  policyRollback,
  ...policyValidationEndpoints,
  ...policyTransferEndpoints,
  ...findingEndpoints,
  ...assignmentEndpoints,
  ...assignmentListEndpoints,
  ...assignmentBatchEndpoints,
  ...assignedPolicyEndpoints,
  ...accessTestEndpoints,
  ...whoCanEndpoints,
  ...userPermissionsEndpoints,
  ...rolePermissionsEndpoints,
  ...userListEndpoints,
  ...userSessionEndpoints,
  ...decisionCountEndpoints,
  ...policyPreviewEndpoints,
  ...decisionExportEndpoints,
  ...decisionStreamEndpoints,
  ...auditEndpoints,
  ...decisionReplayEndpoints,
  ...migrationEndpoints,
  ...systemEndpoints,
  ...catalogueEndpoints,
];

/** Creates the routes of all admin endpoints. */
export function createAdminRoutes(deps: AdminDeps): readonly Route[] {
  return adminEndpoints.map((endpoint) => toRoute(deps, endpoint));
}
