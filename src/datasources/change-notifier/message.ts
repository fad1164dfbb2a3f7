import type { StateChange } from './change-notifier';

/*
 * A message is who says it, 16 characters, and then 30 characters for each change. PostgreSQL takes less than 8000
 * bytes of ASCII.
 */
const SENDER = 16;
const NAME = 22;
const CHANGE = 30;

/** How many changes one message may hold. */
export const MOST_CHANGES = 250;

const CHANGE_FORM = /^[\w-]{30}$/;
const MESSAGE_FORM = new RegExp(`^[\\w-]{${SENDER}}(?:[\\w-]{${CHANGE}}){1,${MOST_CHANGES}}$`);

/** A change as it stands in a message. Undefined where it does not have the form: it would shift all after it. */
export function written({ name, state }: StateChange): string | undefined {
  return name.length === NAME && CHANGE_FORM.test(name + state) ? name + state : undefined;
}

/** The changes that somebody else told. Anybody with the database can send: what is not a message says nothing. */
export function readMessage(message: string, me: string): StateChange[] {
  if (!MESSAGE_FORM.test(message) || message.startsWith(me)) return [];
  const changes: StateChange[] = [];
  for (let at = SENDER; at < message.length; at += CHANGE)
    changes.push({ name: message.slice(at, at + NAME), state: message.slice(at + NAME, at + CHANGE) });
  return changes;
}
