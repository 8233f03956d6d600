import type { JsonObject } from '../../operators/index.ts';
import type { PolicyType } from './policy.ts';
import type { PolicyBody } from './policy-schemas.ts';

/** A ready-made policy. `template` is a valid body of `POST /admin/api/policies`. */
export interface PolicyTemplate {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly type: PolicyType;
  readonly template: PolicyBody;
}

/** Ready-made policies. A DENY template restricts what other policies allow, and allows nothing by itself. */
export const TEMPLATES: readonly PolicyTemplate[] = Object.freeze([
  toTemplate('full-access', 'ROLE_BASED', {
    name: 'Full access',
    description: 'Allows every action on every resource. For administrators.',
    rules: [{ resource: '*', action: '*', description: 'everything' }],
  }),
  toTemplate('read-only', 'ROLE_BASED', {
    name: 'Read-only',
    description: 'Allows reading and listing every resource, including users. Allows no change.',
    rules: [
      { resource: '*', action: 'read', description: 'read any record' },
      { resource: '*', action: 'list', description: 'list any resource' },
    ],
  }),
  toTemplate('public-read', 'ROLE_BASED', {
    name: 'Public read',
    description: 'Allows reading and listing every resource except users. For role anon.',
    rules: [
      { resource: 'User', action: '*', effect: 'DENY', priority: 900, description: 'users are not public' },
      { resource: '*', action: 'read', description: 'read any other record' },
      { resource: '*', action: 'list', description: 'list any other resource' },
    ],
  }),
  toTemplate('own-records', 'ATTRIBUTE_BASED', {
    name: 'Own records',
    description: 'Users may create records, and use every action on the records that they created.',
    rules: [
      { resource: '*', action: 'create', description: 'create records' },
      { resource: '*', action: '*', conditions: [equals('resource.createdBy', `\${user.id}`)], description: 'own records' },
      // An import creates records too.
      { resource: 'User', action: 'create', effect: 'DENY', priority: 200, description: 'users are not created by this policy' },
      { resource: 'User', action: 'import', effect: 'DENY', priority: 200, description: 'users are not imported by this policy' },
    ],
  }),
  toTemplate('own-profile', 'ATTRIBUTE_BASED', {
    name: 'Own profile',
    description: 'Users may read and change their own user record.',
    rules: [
      { resource: 'User', action: 'read', conditions: [equals('resource.id', `\${user.id}`)], description: 'read own profile' },
      { resource: 'User', action: 'update', conditions: [equals('resource.id', `\${user.id}`)], description: 'change own profile' },
    ],
  }),
  toTemplate('same-department', 'ATTRIBUTE_BASED', {
    name: 'Same department',
    description: 'Users may read, list and change the records of their own department. Resources and users need a field department.',
    rules: [
      ...(['read', 'list', 'update'] as const).map((action) => ({
        resource: '*',
        action,
        conditions: [equals('resource.department', `\${user.department}`)],
        description: `${action} within the department`,
      })),
      {
        resource: 'User',
        action: 'update',
        effect: 'DENY',
        priority: 200,
        conditions: [{ field: 'resource.id', operator: 'ne', value: `\${user.id}` }],
        description: 'colleagues change their own user records',
      },
    ],
  }),
  toTemplate('business-hours', 'ATTRIBUTE_BASED', {
    name: 'Business hours',
    description: 'Denies every action outside Monday to Friday, 9:00 to 17:00, in the time zone of the service.',
    rules: [
      {
        resource: '*',
        action: '*',
        effect: 'DENY',
        priority: 900,
        conditions: [
          {
            not: {
              allOf: [
                { field: 'environment.timestamp', operator: 'dayOfWeekIn', value: [1, 2, 3, 4, 5] },
                { field: 'environment.timestamp', operator: 'timeOfDayBetween', value: ['09:00', '17:00'] },
              ],
            },
          },
        ],
        description: 'outside business hours',
      },
    ],
  }),
  toTemplate('office-network', 'ATTRIBUTE_BASED', {
    name: 'Office network',
    description: 'Denies every action from outside private networks. Replace the ranges with the addresses of your office.',
    rules: [
      {
        resource: '*',
        action: '*',
        effect: 'DENY',
        priority: 900,
        conditions: [
          {
            field: 'environment.ip',
            operator: 'ncidr',
            value: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8', '::1/128'],
          },
        ],
        description: 'outside the office network',
      },
    ],
  }),
  toTemplate('editors-of-drafts', 'ATTRIBUTE_BASED', {
    name: 'Editors of drafts',
    description: 'Allows reading, listing and changing records with status "draft". For role editor. Resources need a field status.',
    rules: (['read', 'list', 'update'] as const).map((action) => ({
      resource: '*',
      action,
      conditions: [equals('resource.status', 'draft')],
      description: `${action} drafts`,
    })),
  }),
  toTemplate('contractor-until-a-date', 'ATTRIBUTE_BASED', {
    name: 'Contractor until a date',
    description: 'Allows reading and listing until the contract ends. Replace the date.',
    rules: (['read', 'list'] as const).map((action) => ({
      resource: '*',
      action,
      conditions: [{ field: 'environment.timestamp', operator: 'before', value: '2030-01-01T00:00:00Z' }],
      description: `${action} until the contract ends`,
    })),
  }),
  toTemplate('no-deletes-at-night', 'ATTRIBUTE_BASED', {
    name: 'No deletes at night',
    description: 'Denies deletions between 22:00 and 6:00, in the time zone of the service.',
    rules: [
      {
        resource: '*',
        action: 'delete',
        effect: 'DENY',
        priority: 900,
        conditions: [{ field: 'environment.timestamp', operator: 'timeOfDayBetween', value: ['22:00', '06:00'] }],
        description: 'no deletes at night',
      },
    ],
  }),
  toTemplate('admins-change-users', 'ATTRIBUTE_BASED', {
    name: 'Only admins change users',
    description: 'Denies creating, changing and deleting users to everyone except admins.',
    rules: (['create', 'update', 'delete', 'import'] as const).map((action) => ({
      resource: 'User',
      action,
      effect: 'DENY',
      priority: 900,
      conditions: [{ field: 'user.role', operator: 'ne', value: 'admin' }],
      description: `only admins ${action} users`,
    })),
  }),
  toTemplate('company-email', 'CUSTOM', {
    name: 'Company email',
    description: 'Allows reading and listing to users with an email address of the company. Replace example.com with your domain.',
    rules: (['read', 'list'] as const).map((action) => ({
      resource: '*',
      action,
      conditions: [{ expression: 'user.email.endsWith("@example.com")' }],
      description: `${action} with a company address`,
    })),
  }),
]);

interface Payload {
  readonly name: string;
  readonly description: string;
  readonly rules: PolicyBody['rules'];
}

function toTemplate(id: string, type: PolicyType, { name, description, rules }: Payload): PolicyTemplate {
  return Object.freeze({ id, name, description, type, template: { name, description, type, rules } });
}

function equals(field: string, value: string): JsonObject {
  return { field, operator: 'eq', value };
}
