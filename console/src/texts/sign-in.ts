/** Texts of the sign-in screen. */
export const signInTexts = {
  title: 'Sign in',
  email: 'Email',
  password: 'Password',
  submit: 'Sign in',
  ended: 'Your session has ended. Sign in to continue where you were.',
  noCookie: 'This address is plain HTTP, so the browser keeps no session: after a reload you must sign in again. Use HTTPS, or localhost.',
} as const;
