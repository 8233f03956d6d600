import { Anchor, type AnchorProps } from '@mantine/core';
import { createLink, type LinkComponent } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, Ref } from 'react';

interface LinkProps extends Omit<AnchorProps, 'href'>, Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof AnchorProps> {
  readonly ref?: Ref<HTMLAnchorElement>;
}

function LinkAnchor(props: LinkProps) {
  return <Anchor {...props} />;
}

const CreatedLink = createLink(LinkAnchor);

/** A link in a text to a screen. Its path, parameters and search are typed by the routes. */
export const TextLink: LinkComponent<typeof LinkAnchor> = (props) => <CreatedLink {...props} />;
