import { useSyncExternalStore } from 'react';
import { type Caller, type SessionState, sessionState, subscribeSession } from '../api/session.ts';

/** Returns the state of the session, and renders again when it changes. */
export function useSession(): SessionState {
  return useSyncExternalStore(subscribeSession, sessionState);
}

/** Returns the signed-in user. Only for components inside the session. */
export function useCaller(): Caller {
  const session = useSession();
  if (session.status !== 'signedIn') throw new Error('no user is signed in');
  return session.user;
}
