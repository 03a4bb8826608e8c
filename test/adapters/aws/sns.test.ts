import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { SNSClient } from '@aws-sdk/client-sns';
import { snsSender } from '#adapters/aws/sns';
import type { PeopleMessage } from '#core/notifications/message';

const topicArn = 'arn:aws:sns:eu-central-1:123456789012:redress-notifications';
const message: PeopleMessage = {
  id: 'ntf_1',
  type: 'task.opened',
  at: 0,
  subject: 'line is blocked at pick: “Broken”',
  text: 'Order ord_1 of line is blocked.',
  data: { group: 'claims' },
};

/** Starts a service that answers calls of SNS, and keeps their parameters. */
async function topics(context: TestContext, status = 200) {
  const got: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += part.toString();
    });
    request.on('end', () => {
      got.push(new URLSearchParams(body));
      const refused = '<ErrorResponse><Error><Type>Sender</Type><Code>NotFound</Code><Message>no topic</Message></Error></ErrorResponse>';
      const published = '<PublishResponse><PublishResult><MessageId>1</MessageId></PublishResult></PublishResponse>';
      response.writeHead(status, { 'content-type': 'text/xml' }).end(status === 200 ? published : refused);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new SNSClient({
    region: 'eu-central-1',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  context.after(() => {
    client.destroy();
    server.close();
  });
  return { got, client };
}

test('F-153: a topic of SNS gets the message with its id and a subject that SNS accepts', async (context) => {
  const { got, client } = await topics(context);
  assert.deepEqual(await snsSender(topicArn, client)(message, { kind: 'sns' }), { outcome: 'delivered' });
  const [sent] = got;
  assert.deepEqual(
    ['Action', 'TopicArn', 'Subject', 'Message'].map((name) => sent?.get(name)),
    ['Publish', topicArn, 'line is blocked at pick: ?Broken?', message.text],
  );
  const values = [...(sent ?? [])].filter(([name]) => name.endsWith('Value.StringValue')).map(([, value]) => value);
  assert.deepEqual(values, ['ntf_1', 'task.opened', 'claims']);
});

test('a try fails if SNS refuses the topic, or if the deployment does not name it', async (context) => {
  const { client } = await topics(context, 404);
  assert.partialDeepStrictEqual(await snsSender(topicArn, client)(message, { kind: 'sns' }), { outcome: 'failed' });
  assert.deepEqual(await snsSender(undefined, client)(message, { kind: 'sns' }), {
    outcome: 'failed',
    reason: 'The deployment has no topic. Name one in the destination: topicArn.',
  });
});
