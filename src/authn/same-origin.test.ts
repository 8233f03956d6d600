import { describe, expect, it } from 'vitest';
import { isPlainHttpPage } from './same-origin.ts';

describe('isPlainHttpPage', () => {
  it.each([
    [true, { origin: 'http://192.0.2.2:8787' }],
    [true, { origin: 'http://news.example' }],
    [true, { origin: 'http://[2001:db8::1]:8787' }],
    [false, { origin: 'http://192.0.2.2:8787', 'sec-fetch-site': 'same-origin' }],
    [false, { origin: 'https://news.example' }],
    [false, { origin: 'http://127.0.0.1:8787' }],
    [false, { origin: 'http://localhost:8787' }],
    [false, { origin: 'http://[::1]:8787' }],
    [false, { origin: 'http:' }],
    [false, {}],
  ])('returns %s for the headers %o', (expected, headers: Readonly<Record<string, string>>) => {
    expect(isPlainHttpPage({ header: (name) => headers[name] })).toBe(expected);
  });
});
