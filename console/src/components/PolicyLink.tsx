import type { AnchorProps } from '@mantine/core';
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { commonTexts } from '../texts/common.ts';
import { LockMark } from './LockMark.tsx';
import { TextLink } from './TextLink.tsx';

/** Properties of a link to a policy. */
interface PolicyLinkProps extends Pick<AnchorProps, 'size' | 'truncate'> {
  readonly id: string;
  /** The rule to show. */
  readonly rule?: string | undefined;
  readonly tab?: 'assignments';
  readonly children: ReactNode;
}

/** The id of the built-in policy, which is not stored and cannot be changed. */
const BUILT_IN = 'built-in';

/** A link to a policy, or to a rule or tab of it. */
export function PolicyLink({ id, rule, tab, children, size = 'sm', ...style }: PolicyLinkProps) {
  if (id === BUILT_IN) return <BuiltInPolicy size={size}>{children}</BuiltInPolicy>;
  const search = { ...(tab !== undefined && { tab }), ...(rule !== undefined && { rule }) };
  return (
    <TextLink to="/policies/$id" params={{ id }} search={search} size={size} {...style}>
      {children}
    </TextLink>
  );
}

function BuiltInPolicy({ size, children }: Pick<PolicyLinkProps, 'children'> & { readonly size: PolicyLinkProps['size'] }) {
  return (
    <Text span {...(size !== undefined && { size })}>
      <span role="img" aria-label={commonTexts.builtIn} title={commonTexts.builtIn}>
        <LockMark />
      </span>{' '}
      {children}
    </Text>
  );
}
