import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';

/** A badge for something that deserves attention. */
export function WarningBadge({ children }: { readonly children: ReactNode }) {
  return (
    <Badge color="yellow" styles={{ label: { whiteSpace: 'nowrap' } }} leftSection={<span aria-hidden="true">⚠</span>}>
      {children}
    </Badge>
  );
}
