import '@mantine/notifications/styles.layer.css';
import { Notifications, notifications } from '@mantine/notifications';
import { useEffect } from 'react';
import { subscribeMessages, takeMessages } from '../components/notify.ts';

/** Colors and milliseconds of the kinds of messages. */
const KINDS = {
  success: { color: 'green', autoClose: 5000 },
  warning: { color: 'yellow', autoClose: 15_000 },
} as const;

/** Shows the messages of `notify.ts`. */
export function MessageList() {
  useEffect(() => {
    showMessages();
    return subscribeMessages(showMessages);
  }, []);
  return <Notifications position="bottom-right" />;
}

function showMessages(): void {
  for (const { kind, text } of takeMessages()) notifications.show({ ...KINDS[kind], message: text, withBorder: true });
}
