/** Folders, articles and comments with soft deletes, and referencing resources without, for soft-delete.test.ts. */
import { startService } from '../harness.ts';
import type { ScenarioContext } from './scenario.ts';

const DEFINITIONS = {
  'Folder.yaml': `name: Folder
softDelete: true
fields:
  label: { type: string }
`,
  'Article.yaml': `name: Article
softDelete: true
fields:
  slug:     { type: string, required: true, unique: true }
  section:  { type: string }
  place:    { type: integer }
  folderId: { type: reference, to: Folder, onDelete: cascade }
  ownerId:  { type: reference, to: User }
  nextId:   { type: reference, to: Article, onDelete: setNull }
  hint:     { type: reference, to: Folder, onDelete: setNull, writeOnly: true }
indexes:
  - { fields: [section, place], unique: true }
  - { fields: [place], unique: true, where: { section: front } }
`,
  'Comment.yaml': `name: Comment
softDelete: true
fields:
  text:      { type: string }
  articleId: { type: reference, to: Article, onDelete: cascade }
  aboutIds:  { type: list, of: { type: reference, to: Article, onDelete: cascade } }
`,
  'Proof.yaml': `name: Proof
fields:
  articleId: { type: reference, to: Article, onDelete: cascade }
`,
  'Contract.yaml': `name: Contract
fields:
  articleId: { type: reference, to: Article }
`,
  'Pledge.yaml': `name: Pledge
softDelete: true
fields:
  label:      { type: string }
  contractId: { type: reference, to: Contract }
`,
};

/** The rule of the guide to definitions: users see and restore only records that they deleted themselves. */
export const LEAVES_OTHERS: Readonly<Record<string, unknown>> = {
  resource: 'Page',
  action: 'delete',
  effect: 'DENY',
  priority: 900,
  conditions: [
    { field: 'resource.deletedAt', operator: 'exists', value: true },
    { field: 'resource.deletedBy', operator: 'ne', value: '${user.id}' },
  ],
};

/** Starts a service with an admin; Maya, who reads all articles, and lists and deletes her own; Lea, who lists and reads, and deletes empty folders. */
export async function startFolders(): Promise<ScenarioContext> {
  const service = await startService({ definitions: DEFINITIONS, settings: { rateLimit: 0, cascadeMax: 20 } });
  const admin = await service.admin();
  const [maya, lea] = [await service.user(), await service.user()];
  const own = [{ field: 'resource.ownerId', operator: 'eq', value: '${user.id}' }];
  await service.createPolicy({
    name: 'own articles',
    userId: maya.id,
    rules: [
      { resource: 'Article', action: 'read' },
      { resource: 'Article', action: 'list', conditions: [{ field: 'resource.section', operator: 'ne', value: 'secret', ifExists: true }] },
      { resource: 'Article', action: 'delete', conditions: own },
      { resource: 'Folder', action: 'delete' },
      { ...LEAVES_OTHERS, resource: '*', description: 'what others deleted' },
    ],
  });
  await service.createPolicy({
    name: 'readers',
    userId: lea.id,
    rules: [
      { resource: '*', action: 'read' },
      { resource: '*', action: 'list' },
      { resource: 'Folder', action: 'delete' },
    ],
  });
  const users = { admin, maya, lea };
  return {
    service,
    tokens: new Map(Object.entries(users).map(([name, { token }]) => [name, token])),
    kept: new Map(Object.entries(users).map(([name, { id }]) => [name, id])),
  };
}
