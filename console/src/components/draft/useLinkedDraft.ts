import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { type Draft, discardDraft, readDraft, saveDraft } from '../../api/draft.ts';
import { hasDraft, parseFragment, toFragment } from '../../api/draft-link.ts';
import { useCaller } from '../../shell/useSession.ts';

/** The draft that a screen tries. */
export interface LinkedDraft {
  /** Undefined if there is none, or until it is read. */
  readonly draft: Draft | undefined;
  /** True if the address contains the draft. */
  readonly isInAddress: boolean;
  /** True if there is a draft, which the screen leaves out. */
  readonly isLeftOut: boolean;
  /** True until the draft in the address has been read. */
  readonly isPending: boolean;
  /** True if the address has a draft that cannot be read. */
  readonly isUnreadable: boolean;
  /** Stores a draft for this tab, and writes it to the address of the page. */
  replace(draft: Draft): void;
  discard(): void;
}

const keyOf = (fragment: string) => ['draft of a link', fragment];

/**
 * Returns the draft in the address; if there is none, the draft stored for this tab, which is then written to the address. A screen that leaves
 * drafts out has none.
 */
export function useLinkedDraft(isLeftOut = false): LinkedDraft {
  const fragment = useLocation({ select: ({ hash }) => hash });
  const changeFragment = useFragment();
  const queryClient = useQueryClient();
  const { id: userId } = useCaller();
  const [own, setOwn] = useState(() => readDraft(userId));
  const isInAddress = !isLeftOut && hasDraft(fragment);
  const linked = useQuery({
    queryKey: keyOf(fragment),
    queryFn: () => parseFragment(fragment),
    enabled: isInAddress,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  useEffect(() => {
    if (isLeftOut || isInAddress || own === undefined) return;
    let isLeft = false;
    void toFragment(own).then((hash) => {
      if (hash === undefined || isLeft) return;
      queryClient.setQueryData(keyOf(hash), own);
      changeFragment(hash);
    });
    return () => {
      isLeft = true;
    };
  }, [isLeftOut, isInAddress, own, changeFragment, queryClient]);
  return {
    draft: isInAddress ? linked.data : isLeftOut ? undefined : own,
    isLeftOut: isLeftOut && (hasDraft(fragment) || own !== undefined),
    isInAddress,
    isPending: isInAddress && linked.isPending,
    isUnreadable: isInAddress && linked.isError,
    replace(draft) {
      saveDraft(userId, draft);
      setOwn(draft);
      // Without a draft in the address, the new one is added.
      changeFragment('');
    },
    discard() {
      discardDraft();
      setOwn(undefined);
      changeFragment('');
    },
  };
}

/** Returns a function that replaces the fragment of the address. */
function useFragment(): (hash: string) => void {
  const navigate = useNavigate();
  return useCallback((hash) => void navigate({ to: '.', search: true, hash, replace: true }), [navigate]);
}
