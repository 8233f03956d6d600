/**
 * The client of a service, for browsers and Node.js 20 and newer, without dependencies. `bailiwick types` generates the types of its resources.
 *
 * ```ts
 * import { createClient } from 'bailiwick/client';
 * import type { Resources } from './bailiwick-types.ts';
 *
 * const client = createClient<Resources>({ url: 'http://127.0.0.1:8787' });
 * await client.auth.logIn({ email: 'ada@example.com', password: 'correct horse battery' });
 * const drafts = await client.article.list({ where: { status: 'draft' }, sort: '-createdAt' });
 * ```
 */
export type { AuditEvent, AuditStreamOptions } from './audit-stream.ts';
export type { BatchRequest, BatchResult } from './batch-types.ts';
export { type Client, type ClientMembers, createClient } from './create-client.ts';
export type { AuditEntry, DeletionPreview, Issue, Problem, ResourceDescription } from './generated/service-types.ts';
export { ProblemError } from './problem-error.ts';
export type {
  CallOptions,
  ChangedRecord,
  ChangeOptions,
  ExpansionOf,
  FilterOf,
  ListQuery,
  Page,
  ResourceClient,
  ResourceTypes,
  Selected,
  Selection,
} from './resource-types.ts';
export type { SessionOptions, Tokens } from './session.ts';
export type { ClientOptions, ClientRequest } from './transport.ts';
