import { NavLink, Text } from '@mantine/core';
import { Link, useRouterState } from '@tanstack/react-router';
import { navigationFor } from './navigation.ts';
import { useAuditRights } from './useAuditRights.ts';

/** The links to the screens that the signed-in user may open. */
export function Navigation() {
  const rights = useAuditRights();
  const path = useRouterState({ select: (state) => state.location.pathname });
  return navigationFor(rights).map(({ title, items }) => (
    <div key={title ?? ''}>
      {title !== undefined && (
        <Text size="xs" fw={600} c="dimmed" px="sm" pt="md" pb={4}>
          {title}
        </Text>
      )}
      {items.map(({ to, label }) => {
        const isActive = to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`);
        return (
          <NavLink
            key={to}
            component={Link}
            to={to}
            label={label}
            active={isActive}
            {...(isActive && { 'aria-current': 'page' as const })}
            styles={{ root: { borderRadius: 'var(--mantine-radius-md)' } }}
          />
        );
      })}
    </div>
  ));
}
