import { Tooltip } from '@mantine/core';
import { describeUserAgent } from './user-agent.ts';

/** The browser and the system of a session. The tooltip has the whole header, which a keyboard reaches as well. */
export function UserAgent({ text }: { readonly text: string }) {
  return (
    <Tooltip label={text} events={{ hover: true, focus: true, touch: true }}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the focus shows the tooltip */}
      <span tabIndex={0}>{describeUserAgent(text)}</span>
    </Tooltip>
  );
}
