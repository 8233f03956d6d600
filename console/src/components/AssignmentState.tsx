import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';
import { policyTexts } from '../texts/policy.ts';

const texts = policyTexts.assignments;

/** Properties of the state of an assignment. */
interface AssignmentStateProps {
  readonly isActive: boolean;
  readonly expiresAt?: string | undefined;
  /** Shown for an assignment that applies. */
  readonly children?: ReactNode;
}

/** A badge for an assignment that does not apply, because it is not active or has expired. */
export function AssignmentState({ isActive, expiresAt, children }: AssignmentStateProps) {
  if (!isActive) return <Badge color="gray">{texts.inactive}</Badge>;
  const isExpired = expiresAt !== undefined && Date.parse(expiresAt) <= Date.now();
  return isExpired ? <Badge color="red">{texts.expired}</Badge> : children;
}
