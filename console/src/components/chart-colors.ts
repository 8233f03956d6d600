/** The colours of charts, by colour scheme. */
export const CHART_COLORS = {
  light: { allowed: '#2f9e44', denied: '#c92a2a', axis: '#495057', grid: '#e9ecef' },
  dark: { allowed: '#51cf66', denied: '#ff8787', axis: '#c1c2c5', grid: '#373a40' },
} as const;
