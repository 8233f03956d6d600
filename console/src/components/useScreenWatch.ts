import { useRouter } from '@tanstack/react-router';

/**
 * Returns a function to call when a request starts. It returns another one to call when the request has ended, which returns true while the same
 * screen is open: otherwise the user is at work elsewhere, and the answer must open no screen.
 */
export function useScreenWatch(): () => () => boolean {
  const router = useRouter();
  return () => {
    const { pathname } = router.latestLocation;
    return () => router.latestLocation.pathname === pathname;
  };
}
