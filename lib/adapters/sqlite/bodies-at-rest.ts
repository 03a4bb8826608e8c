import { isOpenToSenders, sourceQueueOf } from '#ports/messages';
import { decrypted, encrypted } from '#ports/util/cipher';
import type { LocalKeys } from './keys.ts';

/** Bodies of messages as the table holds them. Senders outside the system may send secrets, so their bodies are encrypted. */
export interface BodiesAtRest {
  stored(queue: string, body: string): string;
  read(stored: string): string;
}

const form = /^at-rest:1:(\d{4}-\d{2}-\d{2}):([A-Za-z0-9_-]+)$/;
const about = 'redress/message';

export const bodiesAtRest = ({ now, random }: LocalKeys): BodiesAtRest => ({
  stored(queue, body) {
    if (!isOpenToSenders(sourceQueueOf(queue))) return body;
    const { day, key } = now.today();
    return `at-rest:1:${day}:${encrypted(key, Buffer.from(body, 'utf8'), about, random).toString('base64url')}`;
  },
  read(stored) {
    const [, day, content] = form.exec(stored) ?? [];
    if (day === undefined || content === undefined) return stored;
    return decrypted(now.of(day).key, Buffer.from(content, 'base64url'), about).toString('utf8');
  },
});
