/** Records: objects that are never changed in place. What is absent has no key. */

/** Values for a record: null and undefined remove a key. */
type Changes<T> = { [Key in keyof T]?: T[Key] | null | undefined };

/** Return a record with these fields; null and undefined remove a field. */
export function put<T extends object>(record: T, changes: Changes<NoInfer<T>>): T {
  const made = { ...record } as Record<string, unknown>;
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === null) delete made[key];
    else made[key] = value;
  }
  return made as T;
}

/** Return some of a record's fields: those that are there. */
export function pick<T extends object, Key extends keyof T>(record: T, ...keys: Key[]): Pick<T, Key> {
  const made: Partial<T> = {};
  for (const key of keys) {
    const value = record[key];
    if (value !== undefined && value !== null) made[key] = value;
  }
  return made as Pick<T, Key>;
}

/** Return a list with one entry exchanged. */
export function replaceAt<T>(list: readonly T[], place: number, entry: T): readonly T[] {
  const made = list.slice();
  made[place] = entry;
  return made;
}

/** Return a list with this entry in place of the one with the same key, or at the end. */
export function upsert<T>(
  list: readonly T[] | undefined,
  entry: T,
  isSame: (other: T) => boolean,
): readonly T[] {
  const place = list?.findIndex(isSame) ?? -1;
  return place < 0 ? [...(list ?? []), entry] : replaceAt(list!, place, entry);
}

/** Return a list without some entries; the same object if there are none. */
export function without<T>(list: readonly T[], isOut: (entry: T) => boolean): readonly T[] {
  const left = list.filter((entry) => !isOut(entry));
  return left.length === list.length ? list : left;
}

/** Return a list, or nothing for an empty one. */
export function orNothing<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length ? list : undefined;
}
