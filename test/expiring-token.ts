import { decodeJwt, SignJWT } from 'jose';

/** Seconds for which expired tokens are accepted, because clocks differ. */
const LEEWAY = 30;

/** A token, and the time from which it is refused, in milliseconds since 1970. */
export interface ExpiringToken {
  readonly token: string;
  readonly refusedFrom: number;
}

/**
 * Runs a test with a token of the same session that is refused after about two seconds. If `run` returns undefined, because the token was
 * refused before the test had begun, runs it again with a token that is refused later. `secret` is the setting `jwtSecret` of the service.
 */
export async function withExpiringToken<T>(
  { token, secret }: { readonly token: string; readonly secret: string },
  run: (expiring: ExpiringToken) => Promise<T | undefined>,
): Promise<T> {
  for (let seconds = 2; ; seconds *= 2) {
    const done = await run(await createExpiringToken(token, secret, seconds));
    if (done !== undefined) return done;
  }
}

async function createExpiringToken(token: string, secret: string, seconds: number): Promise<ExpiringToken> {
  const { sid, role, iss, aud, sub } = decodeJwt(token);
  const expires = Math.floor(Date.now() / 1000) - LEEWAY + seconds;
  const signed = await new SignJWT({ sid, role })
    .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
    .setIssuer(String(iss))
    .setAudience(String(aud))
    .setSubject(String(sub))
    .setIssuedAt(expires - 60)
    .setExpirationTime(expires)
    .sign(new TextEncoder().encode(secret));
  return { token: signed, refusedFrom: (expires + LEEWAY) * 1000 };
}
