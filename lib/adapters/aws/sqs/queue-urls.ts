import { GetQueueUrlCommand, QueueDoesNotExist, type SQSClient } from '@aws-sdk/client-sqs';
import { responseQueuePrefix } from '#ports/queues';

/** Runs work with the URL of a queue. */
export type AtQueue = <T>(queue: string, work: (url: string) => Promise<T>) => Promise<T>;

/** Finds queues by name, and remembers their URLs. */
export function queueUrls(client: SQSClient, prefix: string): AtQueue {
  const urls = new Map<string, Promise<string>>();
  const nameOf = (queue: string): string => (queue.startsWith(responseQueuePrefix) ? queue : prefix + queue);

  /** Returns the URL of a queue, read once. Queues are addressed by name alone, so that no message can choose a URL. */
  function urlOf(queue: string): Promise<string> {
    let url = urls.get(queue);
    if (!url) {
      url = client.send(new GetQueueUrlCommand({ QueueName: nameOf(queue) })).then(({ QueueUrl = '' }) => QueueUrl);
      urls.set(queue, url);
      url.catch(() => urls.delete(queue));
    }
    return url;
  }

  return async <T>(queue: string, work: (url: string) => Promise<T>): Promise<T> => {
    try {
      return await work(await urlOf(queue));
    } catch (error) {
      if (!(error instanceof QueueDoesNotExist)) throw error;
      // The queue may be created again, under another URL.
      urls.delete(queue);
      throw new Error(`Queue ${nameOf(queue)} does not exist.`, { cause: error });
    }
  };
}
