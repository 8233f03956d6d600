import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { useSession } from './useSession.ts';

/** Renders its content while a user is signed in; otherwise opens the sign-in screen, which returns to the present address. */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const session = useSession();
  const router = useRouter();
  const queryClient = useQueryClient();
  const { status } = session;
  const user = useRef<string>(undefined);
  if (session.status === 'signedIn') user.current = session.user.id;
  const hasEnded = session.status === 'signedOut' && session.hasEnded;
  useEffect(() => {
    if (status !== 'signedOut') return;
    queryClient.clear();
    const { pathname, searchStr, hash } = router.state.location;
    const back = `${pathname}${searchStr}${hash === '' ? '' : `#${hash}`}`;
    const search = {
      ...(back !== '/' && { back }),
      ...(user.current !== undefined && { user: user.current }),
      ...(hasEnded && { ended: true }),
    };
    void router.navigate({ to: '/sign-in', search, replace: true });
  }, [status, hasEnded, router, queryClient]);
  return status === 'signedIn' ? children : null;
}
