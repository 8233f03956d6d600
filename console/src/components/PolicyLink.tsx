import type { AnchorProps } from '@mantine/core';
import { Anchor, Text } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { commonTexts } from '../texts/common.ts';
import { LockMark } from './LockMark.tsx';

/** Properties of a link to a policy. */
interface PolicyLinkProps extends Pick<AnchorProps, 'size' | 'truncate'> {
  readonly id: string;
  /** The rule to show. */
  readonly rule?: string | undefined;
  readonly tab?: string;
  readonly children: ReactNode;
}

/** The id of the built-in policy, which is not stored and cannot be changed. */
const BUILT_IN = 'built-in';

/** A link to a policy, or to a rule or tab of it. */
export function PolicyLink({ id, rule, tab, children, size = 'sm', ...style }: PolicyLinkProps) {
  const router = useRouter();
  if (id === BUILT_IN) return <BuiltInPolicy size={size}>{children}</BuiltInPolicy>;
  const query = new URLSearchParams({ ...(tab !== undefined && { tab }), ...(rule !== undefined && { rule }) });
  const href = `/console/policies/${encodeURIComponent(id)}${query.size === 0 ? '' : `?${query}`}`;
  return (
    <Anchor
      href={href}
      size={size}
      {...style}
      onClick={(event) => {
        // With a modifier key, the browser opens a tab or window.
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        router.history.push(href);
      }}
    >
      {children}
    </Anchor>
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
