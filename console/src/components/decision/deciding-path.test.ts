import { expect, it } from 'vitest';
import { decidesGroup } from './deciding-path.ts';

type Answer = Parameters<typeof decidesGroup>[0]['answer'];

it.each<['all' | 'any' | 'not', Answer, readonly Answer[], readonly Answer[]]>([
  ['all', 'false', ['true', 'false', 'unknown'], ['false']],
  ['all', 'true', ['true', 'true'], ['true', 'true']],
  ['all', 'unknown', ['true', 'unknown'], ['unknown']],
  ['all', 'open', ['true', 'open'], ['open']],
  ['any', 'true', ['false', 'true', 'unknown'], ['true']],
  ['any', 'false', ['false', 'false'], ['false', 'false']],
  ['any', 'unknown', ['false', 'unknown'], ['unknown']],
  ['not', 'true', ['false'], ['false']],
])('%s is %s: of its members %j, %j decide', (type, answer, members, deciding) =>
  expect(members.filter((member) => decidesGroup({ answer: member }, { type, answer }))).toEqual(deciding),
);
