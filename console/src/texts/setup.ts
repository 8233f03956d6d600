/** Texts of the first run. */
export const setupTexts = {
  title: 'Welcome to Bailiwick',
  description: 'Create the first admin. Everything else can be changed later.',
  name: 'Name',
  email: 'Email',
  password: 'Password',
  passwordHelp: 'At least 8 characters. A common password, your name and your email are refused.',
  passwordMistakes: {
    common: 'This password is among the most common ones. Choose another.',
    guessable: 'This password is your name or your email. Choose another.',
    tooShort: 'This password is too short. Enter at least 8 characters.',
  },
  token: 'Setup token',
  tokenHelp: 'The service printed it when it started. The printed link contains it.',
  submit: 'Create the admin',
  done: 'This service has an admin already.',
  signIn: 'Sign in',
} as const;
