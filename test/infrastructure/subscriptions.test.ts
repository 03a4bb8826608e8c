import assert from 'node:assert/strict';
import { test } from '@jest/globals';
import { Annotations as Acknowledged, App } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { OrderStack } from '#infrastructure/stack';
import orders from './app.ts';
import { entry, region } from './support.ts';

/** Returns the number of warnings about alerts, after a change of the stack. */
function warningsAfter(change: (stack: OrderStack) => void): number {
  const stack = new OrderStack(new App({ analyticsReporting: false }), 'Redress', { env: { region }, orders: { app: orders, entry } });
  change(stack);
  return Annotations.fromStack(stack).findWarning('*', Match.stringLikeRegexp('Nothing in the app subscribes to')).length;
}

test('the synthesis warns of a stack without a subscriber to its alerts', () => {
  assert.equal(
    warningsAfter(() => undefined),
    1,
  );
});

test('the synthesis does not warn if the app subscribes to the alerts, or acknowledges the warning', () => {
  assert.equal(
    warningsAfter(({ orders }) => orders.alerts.addSubscription(new EmailSubscription('operators@example.com'))),
    0,
  );
  assert.equal(
    warningsAfter(({ orders }) => Acknowledged.of(orders).acknowledgeWarning('redress:alerts')),
    0,
  );
});
