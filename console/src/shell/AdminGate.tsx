import { Outlet } from '@tanstack/react-router';
import { EmptyState } from '../components/EmptyState.tsx';
import { TextLink } from '../components/TextLink.tsx';
import { shellTexts } from '../texts/shell.ts';
import { useCaller } from './useSession.ts';

/** Renders the screen for admins; for other users, the reason why it is not there. */
export function AdminGate() {
  const { role } = useCaller();
  const { title, detail } = shellTexts.adminsOnly;
  return role === 'admin' ? (
    <Outlet />
  ) : (
    <EmptyState title={title} detail={detail} action={<TextLink to="/data">{shellTexts.toRecords}</TextLink>} />
  );
}
