import type { Page } from 'playwright-core';

/** A way to scroll the table of decisions. */
export interface Scroll {
  readonly name: string;
  /** Pixels in each frame; negative values scroll up. */
  readonly step: number;
  /** Scrolls until the table has so many rows and shows the last one. */
  readonly untilRows?: number;
  /** Scrolls for so long, and turns at both ends. */
  readonly seconds?: number;
}

/** The frames of one scroll. */
export interface Frames {
  /** Milliseconds from each frame to the next one. */
  readonly gaps: readonly number[];
  /** Milliseconds of each long animation frame: one whose work takes more than 50 ms. */
  readonly long: readonly number[];
  /** Milliseconds of processor time of the main thread, which other load on the machine does not change. */
  readonly processor: number;
}

/** Maximum seconds until all rows are loaded. */
const LOADING_LIMIT = 90;

/** The rate of the frames of a scroll, and how evenly they came. */
export interface Smoothness {
  /** Frames each second. */
  readonly rate: number;
  readonly beside: Readonly<Record<string, number>>;
}

/** A frame that comes later has missed a refresh of a display with 60 Hz. */
const LATE = 25;

/** Sets the position in each frame, and notes the times of the frames. A string, because the page is not compiled with this file. */
const SCROLL = `async ({ step, untilRows, seconds, limit }) => {
  const table = document.querySelector('table[aria-rowcount]');
  const scroller = table.parentElement;
  const long = [];
  const observer = new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => duration)));
  observer.observe({ type: 'long-animation-frame' });
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const end = () => scroller.scrollHeight - scroller.clientHeight;
  const isOver = (began, now) => untilRows === undefined
    ? now - began >= seconds * 1000
    : Number(table.getAttribute('aria-rowcount')) >= untilRows && scroller.scrollTop >= end() - 1;
  await nextFrame();
  const gaps = [];
  const began = await nextFrame();
  let before = began;
  let direction = 1;
  while (!isOver(began, before)) {
    if (untilRows === undefined && (scroller.scrollTop + direction * step < 0 || scroller.scrollTop + direction * step > end())) direction = -direction;
    scroller.scrollTop += direction * step;
    const now = await nextFrame();
    gaps.push(now - before);
    before = now;
    if (untilRows !== undefined && now - began > limit * 1000)
      throw new Error('expected ' + untilRows + ' rows within ' + limit + ' s, the table has ' + table.getAttribute('aria-rowcount'));
  }
  await nextFrame();
  long.push(...observer.takeRecords().map(({ duration }) => duration));
  observer.disconnect();
  return { gaps, long };
}`;

/** Scrolls the table of decisions of a page. */
export async function scrollBy(page: Page, { step, untilRows, seconds }: Scroll): Promise<Frames> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busySeconds = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
  };
  const before = await busySeconds();
  const timed = await page.evaluate<Omit<Frames, 'processor'>>(
    `(${SCROLL})(${JSON.stringify({ step, untilRows, seconds, limit: LOADING_LIMIT })})`,
  );
  const processor = ((await busySeconds()) - before) * 1000;
  await session.detach();
  return { ...timed, processor };
}

/** Returns the rate of the frames, and how evenly they came. */
export function toSmoothness({ gaps, long, processor }: Frames): Smoothness {
  const total = gaps.reduce((sum, gap) => sum + gap, 0);
  const late = gaps.filter((gap) => gap > LATE).length;
  return {
    rate: (gaps.length * 1000) / total,
    beside: {
      'late %': (late * 100) / gaps.length,
      'longest ms': Math.max(...gaps),
      'long animation frames': long.length,
      'processor ms a frame': processor / gaps.length,
      seconds: total / 1000,
    },
  };
}
