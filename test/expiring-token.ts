import { decodeJwt, SignJWT } from 'jose';

/** Seconds for which expired tokens are accepted, because clocks differ. */
const LEEWAY = 30;

/** A token, and the time from which it is refused, in milliseconds since 1970. */
export interface ExpiringToken {
  readonly token: string;
  readonly refusedFrom: number;
}

/** Creates a token of the same session that is refused after about two seconds. `secret` is the setting `jwtSecret` of the service. */
export async function createExpiringToken(token: string, secret: string): Promise<ExpiringToken> {
  const { sid, role, iss, aud, sub } = decodeJwt(token);
  const expires = Math.floor(Date.now() / 1000) - LEEWAY + 2;
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
