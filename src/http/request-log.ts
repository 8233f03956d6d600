import type { FastifyBaseLogger, FastifyServerOptions } from 'fastify';

type Arguments = Parameters<FastifyBaseLogger['info']>;

/**
 * The log of one request, which names it. Made when something is said in it: nearly no request says anything, and making one costs as much
 * as deciding.
 */
export const createRequestLog: NonNullable<FastifyServerOptions['childLoggerFactory']> = (logger, bindings, options) => {
  let made: FastifyBaseLogger | undefined;
  const own = (): FastifyBaseLogger => {
    made ??= logger.child(bindings, options);
    return made;
  };
  return {
    level: logger.level,
    trace: (...said: Arguments) => own().trace(...said),
    debug: (...said: Arguments) => own().debug(...said),
    info: (...said: Arguments) => own().info(...said),
    warn: (...said: Arguments) => own().warn(...said),
    error: (...said: Arguments) => own().error(...said),
    fatal: (...said: Arguments) => own().fatal(...said),
    silent: () => undefined,
    child: (more, how) => own().child(more, how),
  };
};
