import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { type Draft, discardDraft, readDraft } from '../../api/draft.ts';
import { hasDraft, parseFragment, toFragment } from '../../api/draft-link.ts';

/** The draft that the simulator tries. */
interface SimulatorDraft {
  /** Undefined if there is none, or until it is read. */
  readonly draft: Draft | undefined;
  /** True if the address contains the draft. */
  readonly isInAddress: boolean;
  /** True if the address has a draft that cannot be read. */
  readonly isUnreadable: boolean;
  discard(): void;
}

const keyOf = (fragment: string) => ['draft of a link', fragment];

/** Returns the draft of the address; without one, that of the tab, which is added to the address. */
export function useSimulatorDraft(): SimulatorDraft {
  const fragment = useLocation({ select: ({ hash }) => hash });
  const navigate = useNavigate({ from: '/simulator' });
  const queryClient = useQueryClient();
  const [own, setOwn] = useState(() => readDraft());
  const isInAddress = hasDraft(fragment);
  const linked = useQuery({
    queryKey: keyOf(fragment),
    queryFn: () => parseFragment(fragment),
    enabled: isInAddress,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  useEffect(() => {
    if (isInAddress || own === undefined) return;
    let isLeft = false;
    void toFragment(own).then((hash) => {
      if (hash === undefined || isLeft) return;
      queryClient.setQueryData(keyOf(hash), own);
      void navigate({ search: (search) => search, hash, replace: true });
    });
    return () => {
      isLeft = true;
    };
  }, [isInAddress, own, navigate, queryClient]);
  return {
    draft: isInAddress ? linked.data : own,
    isInAddress,
    isUnreadable: isInAddress && linked.isError,
    discard() {
      discardDraft();
      setOwn(undefined);
      void navigate({ search: (search) => search, hash: '', replace: true });
    },
  };
}
