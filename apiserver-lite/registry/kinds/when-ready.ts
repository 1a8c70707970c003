// Values that are there at once for most kinds, and for some only later: the first pay for no promise.

export type MaybePromise<T> = T | Promise<T>;

export function whenReady<T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
