/** Records: objects that are never changed in place. What is absent has no key. */

/** What may be put into a record: null and undefined take a key out. */
type Changes<T> = { [Key in keyof T]?: T[Key] | null | undefined };

/** Give a record with these fields; null and undefined take a field out. */
export function put<T extends object>(record: T, changes: Changes<NoInfer<T>>): T {
  const made = { ...record } as Record<string, unknown>;
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === null) delete made[key];
    else made[key] = value;
  }
  return made as T;
}

/** Give some of a record's fields: those that are there. */
export function pick<T extends object, Key extends keyof T>(record: T, ...keys: Key[]): Pick<T, Key> {
  const made: Partial<T> = {};
  for (const key of keys) {
    const value = record[key];
    if (value !== undefined && value !== null) made[key] = value;
  }
  return made as Pick<T, Key>;
}

/** Give a list with one entry exchanged. */
export function replaceAt<T>(list: readonly T[], place: number, entry: T): readonly T[] {
  const made = list.slice();
  made[place] = entry;
  return made;
}

/** Give a list with this entry in the place of the one that it is the same as, or at the end. */
export function upsert<T>(
  list: readonly T[] | undefined,
  entry: T,
  isSame: (other: T) => boolean,
): readonly T[] {
  const place = list?.findIndex(isSame) ?? -1;
  return place < 0 ? [...(list ?? []), entry] : replaceAt(list!, place, entry);
}

/** Give a list without what is taken out of it: the very same, if that is nothing. */
export function without<T>(list: readonly T[], isOut: (entry: T) => boolean): readonly T[] {
  const left = list.filter((entry) => !isOut(entry));
  return left.length === list.length ? list : left;
}

/** Give a list, or nothing for an empty one. */
export function orNothing<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length ? list : undefined;
}
