import '@mantine/notifications/styles.layer.css';
import { Notifications, notifications } from '@mantine/notifications';
import { useEffect } from 'react';
import { subscribeMessages, takeMessages } from '../components/notifySuccess.ts';

/** Shows the messages of `notifySuccess`. */
export function MessageList() {
  useEffect(() => {
    showMessages();
    return subscribeMessages(showMessages);
  }, []);
  return <Notifications position="bottom-right" />;
}

function showMessages(): void {
  for (const message of takeMessages()) notifications.show({ message, color: 'green', withBorder: true, autoClose: 5000 });
}
