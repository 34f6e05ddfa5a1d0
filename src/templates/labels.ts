import { errorTable } from '../errors.js'

/** Every text of our pages and mails by name. `{name}` stands for a value of that page or mail. */
export type Labels = Readonly<Record<string, string>>

const errorLabels = Object.fromEntries(
  Object.entries(errorTable).map(([code, [, sentence]]) => [`error.${code}`, sentence]),
)

/** The English texts: what the `labels` setting may replace, one by one. */
export const defaultLabels: Labels = Object.freeze({
  ...errorLabels,
  'error.invalid_request': 'Please check what you have entered and try again.',
  'error.unknown': 'Something went wrong. Please try again.',
  'error.oauth_denied': 'The sign-in was cancelled.',
  'error.oauth_state': 'This sign-in took too long or was started in another browser. Please try again.',
  'error.oauth_failed': 'The provider could not sign you in. Please try again.',
  'error.oauth_email_unverified': 'Your address is not verified with that provider.',
  'error.oauth_link_required': 'There is already an account with this address. Sign in to it first.',

  'mail.greeting': 'Hello,',
  'mail.greetingByName': 'Hello {name},',
  'mail.footer': 'You receive this mail because this address was used at {productName}.',
  'mail.plainLink': 'If the button does not work, open this link:',
  'mail.device': 'Device:',
  'mail.time': 'Time:',

  'verify.subject': 'Confirm your email address for {productName}',
  'verify.link': 'Confirm that this is your email address:',
  'verify.button': 'Confirm email address',
  'verify.code': 'Or enter this code where you registered:',
  'verify.lifetime': 'The link and the code work for {lifetimeHours} hours.',
  'verify.notYou': 'If you did not register, ignore this mail: nothing happens without your confirmation.',

  'otp.subject': 'Your code to sign in to {productName}',
  'otp.code': 'Enter this code where you asked for it:',
  'otp.link': 'Or sign in with one click, in the browser in which you asked:',
  'otp.button': 'Sign in',
  'otp.lifetime': 'The code or the link works once, for {lifetimeMinutes} minutes.',
  'otp.notYou':
    'If you did not ask for it, ignore this mail. Tell the code to nobody, whoever asks for it: with it they could ' +
    'sign in as you.',

  'accountExists.subject': 'You already have an account at {productName}',
  'accountExists.what': 'Somebody, maybe you, tried to use this address for another account. It already has one.',
  'accountExists.signIn': 'If it was you, sign in:',
  'accountExists.button': 'Sign in',
  'accountExists.notYou': 'If it was not you, ignore this mail: nothing about your account has changed.',

  'refreshReuse.subject': 'We ended one of your sessions at {productName}',
  'refreshReuse.what': 'One of your sessions was ended to protect your account.',
  'refreshReuse.why':
    'A key of that session was used a second time, long after it had been replaced. This can mean that somebody ' +
    'copied it from your device. It can also happen when a device or browser profile is restored from a backup.',
  'refreshReuse.next':
    'Sign in again as you always do. If you do not recognise this, change your password and look through your ' +
    'sessions. This mail has no link on purpose.',

  'passwordReset.subject': 'Choose a new password for {productName}',
  'passwordReset.link': 'Somebody, maybe you, asked for a new password. Choose one here:',
  'passwordReset.button': 'Choose a new password',
  'passwordReset.lifetime': 'The link works once, for {lifetimeMinutes} minutes.',
  'passwordReset.notYou': 'If it was not you, ignore this mail: your password stays as it is.',

  'passwordChanged.subject': 'Your password was changed at {productName}',
  'passwordChanged.what': 'The password of your account was changed, and every session was ended.',
  'passwordChanged.notYou':
    'If it was not you, somebody else may have access to your account: ask for a new password where you sign in, and ' +
    'look after your mailbox, too. This mail has no link on purpose.',

  'emailChange.subject': 'Confirm your new email address for {productName}',
  'emailChange.link': 'Somebody, maybe you, wants to use this address for their account. Confirm that it is yours:',
  'emailChange.button': 'Use this address',
  'emailChange.lifetime': 'The link works once, for {lifetimeMinutes} minutes.',
  'emailChange.notYou':
    'If it was not you, ignore this mail and do not confirm: it would give this address to somebody else’s account.',

  'emailChanged.subject': 'Your email address was changed at {productName}',
  'emailChanged.what':
    'Your account has another email address now, and its mails no longer go to this one. If it was you, there is ' +
    'nothing to do.',
  'emailChanged.notYou': 'If it was not you, take this address back:',
  'emailChanged.button': 'Take this address back',
  'emailChanged.lifetime':
    'The link works once, for {lifetimeDays} days, and nobody else can use this address meanwhile. It ends every ' +
    'session of your account; choose a new password right after.',

  'emailRestored.subject': 'Your account has its former email address again at {productName}',
  'emailRestored.what':
    'Somebody with the link that we mailed to the former address of your account took that address back. Its mails no ' +
    'longer go to this one, and every session was ended.',
  'emailRestored.notYou':
    'If it was not you, somebody else may read that mailbox or have access to your account: tell the people who run ' +
    '{productName}. This mail has no link on purpose.',

  'twoFactorChanged.title': 'Two-factor authentication',
  'twoFactorChanged.subjectOn': 'Two-factor authentication was turned on at {productName}',
  'twoFactorChanged.subjectOff': 'Two-factor authentication was turned off at {productName}',
  'twoFactorChanged.subjectCodes': 'You have new backup codes at {productName}',
  'twoFactorChanged.on':
    'From now on a sign-in to your account also asks for a code of your authenticator app. Every session was ended. ' +
    'Keep the backup codes where you find them without your phone.',
  'twoFactorChanged.off':
    'A sign-in to your account no longer asks for a code of your authenticator app. Every session was ended.',
  'twoFactorChanged.codes': 'New backup codes were made for your account. The old ones are worth nothing any more.',
  'twoFactorChanged.notYou':
    'If it was not you, somebody else may have access to your account: ask for a new password where you sign in, and ' +
    'tell the people who run {productName}. This mail has no link on purpose.',

  'newDevice.subject': 'A new device signed in to your account at {productName}',
  'newDevice.what': 'Somebody has signed in to your account from a device that we have not seen you use before.',
  'newDevice.notYou':
    'If it was you, there is nothing to do. If it was not, change your password and end the session where you see your ' +
    'sessions. This mail has no link on purpose.',

  'field.email': 'Email address',
  'field.code': 'Code from the mail',
  'field.password': 'Password',
  'field.newPassword': 'New password',
  'field.factorCode': 'Code from your authenticator app',

  'verifyPage.title': 'Confirm your email address',
  'verifyPage.explain': 'One more click, and your address is confirmed.',
  'verifyPage.explainCode': 'We have sent you a mail. Enter the code from it, or open the link in it.',
  'verifyPage.whyPassword':
    'This is not the browser you registered with, so we need the password that you chose when you registered.',
  'verifyPage.button': 'Confirm',
  'verifyPage.notYou': 'If you did not register, close this page: nothing happens without your confirmation.',

  'otpPage.title': 'Sign in with a code',
  'otpPage.explain': 'Enter the address of your account, and we send you a code to sign in with.',
  'otpPage.send': 'Send the code',
  'otpPage.sent': 'If there is an account with this address, a mail with a code is on its way to it.',
  'otpPage.signIn': 'Sign in',
  'otpPage.oneClick': 'One more click, and you are signed in. It works in the browser in which you asked for the mail.',
  'otpPage.again': 'Ask for another code',

  'forgotPage.title': 'Forgot your password?',
  'forgotPage.explain': 'Enter the address of your account, and we send you a link to choose a new password.',
  'forgotPage.button': 'Send the link',
  'forgotPage.done': 'If there is an account with this address, a mail with a link is on its way to it.',
  'forgotPage.noMail': 'No mail? Look among the unwanted ones, or check that this is the address of your account.',

  'resetPage.title': 'Choose a new password',
  'resetPage.rules': 'At least {minLength} characters. Long is good; common passwords are refused.',
  'resetPage.button': 'Set the new password',
  'resetPage.noToken': 'Open the link in the mail that we sent you.',
  'resetPage.again': 'Ask for another link',
  'resetPage.done': 'Your password is changed, and you are signed out everywhere.',
  'resetPage.signIn': 'Sign in',

  'emailChangePage.title': 'Confirm your new email address',
  'emailChangePage.explain': 'One more click, and your account has this address.',
  'emailChangePage.button': 'Use this address',
  'emailChangePage.notYou': 'If you did not ask to change the address of your account, close this page.',
  'emailChangePage.noToken': 'Open the link in the mail that we sent you.',
  'emailChangePage.done': 'Your account has its new address. Sign in with it from now on.',

  'emailUndoPage.title': 'Take your email address back',
  'emailUndoPage.explain':
    'Your account gets the address back that this link was sent to, and every session ends, on every device. Two-factor ' +
    'authentication that was turned on since then is off again.',
  'emailUndoPage.code': 'Two-factor code',
  'emailUndoPage.button': 'Take the address back',
  'emailUndoPage.wasYou': 'If it was you who changed the address, close this page.',
  'emailUndoPage.noToken': 'Open the link in the mail that we sent you.',
  'emailUndoPage.done': 'Your account has its former address again, and you are signed out everywhere.',
  'emailUndoPage.next': 'Whoever changed it may know your password. Choose a new one now.',
  'emailUndoPage.newPassword': 'Choose a new password',

  'twoFactorPage.title': 'One more step',
  'twoFactorPage.explain': 'Enter the code that your authenticator app shows now.',
  'twoFactorPage.lost': 'No app at hand? Enter one of your backup codes instead.',
  'twoFactorPage.button': 'Sign in',
  'twoFactorPage.over': 'This sign-in has ended, or it took too long.',
  'twoFactorPage.again': 'Sign in again',

  'errorPage.title': 'That did not work',
  'errorPage.requestId': 'If you ask for help, give this number:',

  'mailbox.title': 'Development mailbox',
  'mailbox.explain': 'Mails are kept here instead of being sent, the newest first.',
  'mailbox.refresh': 'Refresh',
  'mailbox.to': 'To',
  'mailbox.time': 'Time',
  'mailbox.code': 'Code',
  'mailbox.html': 'HTML part',
  'mailbox.empty': 'No mail yet.',
})

/** The sentence for an error code, whatever the code is: one that we do not know gets the general one. */
export function errorSentence(labels: Labels, code: string): string {
  return ownText(labels, `error.${code}`) ?? ownText(labels, 'error.unknown') ?? ''
}

/** The text with its `{placeholders}` replaced once: what comes in with a value is never looked at again. */
export function fillLabel(text: string, values: Readonly<Record<string, unknown>>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    return typeof value === 'string' || typeof value === 'number' ? String(value) : placeholder
  })
}

function ownText(labels: Labels, name: string): string | undefined {
  return Object.hasOwn(labels, name) ? labels[name] : undefined
}
