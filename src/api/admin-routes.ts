import type { Route } from '../request/index.ts';
import { accessTestEndpoints } from './access-test-endpoint.ts';
import { type AdminDeps, type AdminEndpoint, toRoute } from './admin-endpoint.ts';
import { assignedPolicyEndpoints } from './assigned-policy-endpoints.ts';
import { assignmentBatchEndpoints } from './assignment-batch-endpoint.ts';
import { assignmentEndpoints } from './assignment-endpoints.ts';
import { assignmentListEndpoints } from './assignment-list-endpoints.ts';
import { auditEndpoints } from './audit-endpoints.ts';
import { catalogueEndpoints } from './catalogue-endpoint.ts';
import { decisionCountEndpoints } from './decision-count-endpoints.ts';
import { decisionExportEndpoints } from './decision-export-endpoint.ts';
import { decisionReplayEndpoints } from './decision-replay-endpoint.ts';
import { decisionStreamEndpoints } from './decision-stream-endpoint.ts';
import { findingEndpoints } from './finding-endpoints.ts';
import { migrationEndpoints } from './migration-endpoints.ts';
import { policyEndpoints } from './policy-endpoints.ts';
import { policyHistoryEndpoints } from './policy-history-endpoints.ts';
import { policyPreviewEndpoints } from './policy-preview-endpoint.ts';
import { policyRollbackEndpoints } from './policy-rollback-endpoint.ts';
import { policySearchEndpoints } from './policy-search-endpoint.ts';
import { policyTransferEndpoints } from './policy-transfer-endpoints.ts';
import { policyValidationEndpoints } from './policy-validation-endpoint.ts';
import { rolePermissionsEndpoints } from './role-permissions-endpoint.ts';
import { systemEndpoints } from './system-endpoint.ts';
import { userListEndpoints } from './user-list-endpoint.ts';
import { userPermissionsEndpoints } from './user-permissions-endpoint.ts';
import { userSessionEndpoints } from './user-session-endpoints.ts';
import { whoCanEndpoints } from './who-can-endpoint.ts';

/** All endpoints under `/admin/api`. */
export const adminEndpoints: readonly AdminEndpoint[] = [
  ...policySearchEndpoints,
  ...policyEndpoints,
  ...policyHistoryEndpoints,
  ...policyRollbackEndpoints,
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
