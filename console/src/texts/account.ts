/** Texts of the screen of the caller's own account. */
export const accountTexts = {
  title: 'Your account',
  password: {
    title: 'Password',
    current: 'Current password',
    next: 'New password',
    submit: 'Change password',
    done: 'Your password was changed. Your other sessions have ended.',
  },
  sessions: {
    title: 'Sessions',
    none: 'No open session.',
    description: 'Devices and programs that are signed in as you.',
    device: 'Device',
    address: 'Address',
    started: 'Signed in',
    used: 'Last used',
    current: 'this session',
    end: 'End',
    endOthers: 'End all other sessions',
    ended: 'The session has ended.',
    othersEnded: 'All other sessions have ended.',
  },
} as const;
