import { notifications } from '@mantine/notifications';

/** Shows for some seconds that a change was made. Screen readers announce it. */
export function notifySuccess(message: string): void {
  notifications.show({ message, color: 'green', withBorder: true, autoClose: 5000 });
}
