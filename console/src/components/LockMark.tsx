/** A lock, drawn because not every system has a font with that character. */
export function LockMark() {
  return (
    <svg width="12" height="12" viewBox="0 0 12 12" fill="currentColor" aria-hidden="true">
      <path d="M3 5V4a3 3 0 0 1 6 0v1h.5a1 1 0 0 1 1 1v4.5a1 1 0 0 1-1 1h-7a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1Zm1.4 0h3.2V4a1.6 1.6 0 0 0-3.2 0Z" />
    </svg>
  );
}
