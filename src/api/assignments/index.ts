/**
 * Assignments of policies to users and roles: single changes, atomic batches, lists, and the policies of a user or role.
 *
 * Begin with `assignment-endpoints.ts`.
 */
export { assignedPolicyEndpoints } from './assigned-policy-endpoints.ts';
export { assignmentBatchEndpoints } from './assignment-batch-endpoint.ts';
export {
  assignFromCommand,
  type CommandAssignment,
  type CommandUnassignment,
  unassignFromCommand,
} from './assignment-commands.ts';
export { assignmentEndpoints } from './assignment-endpoints.ts';
export { assignmentListEndpoints } from './assignment-list-endpoints.ts';
