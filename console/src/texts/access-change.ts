import { sentence } from './sentence.ts';

const count = (number: number, one: string, many: string): string => (number === 1 ? sentence`1 ${one}` : sentence`${number} ${many}`);

/** Texts of the permissions that a change would alter. */
export const accessChangeTexts = {
  title: 'What changes for roles and users',
  subject: { user: (name: string) => name, role: (name: string) => sentence`Role ${name}` },
  denied: (number: number) => sentence`Denies ${count(number, 'action', 'actions')}:`,
  allowed: (number: number) => sentence`Allows ${count(number, 'action', 'actions')}:`,
  conditional: (number: number) => sentence`${count(number, 'action depends', 'actions depend')} on other conditions:`,
  before: 'now',
  after: 'then',
  when: 'if',
  rule: (rule: string | undefined, policy = '') => sentence`(${rule === undefined ? '' : sentence`rule "${rule}" of `}policy "${policy}")`,
  nothing: 'No action is denied or allowed by this: other policies decide the same.',
  auditLog: 'Rules about the audit log are not compared.',
  notAssigned: 'The policy is assigned to no role and no user, so no permission changes.',
  more: (number: number, isMore: boolean) => sentence`and ${number}${isMore ? ' or more' : ''} other roles and users`,
} as const;
